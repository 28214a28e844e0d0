/* The console in a browser. Results are put into localStorage before they are sent, sent in order, and dropped only when
   the server has acknowledged them; every request carries a key, so that it is carried out once. */
import { $, Away, SignedOut, ahead, ask, best, keeps, limit, made, page, stamp, store, study, unit } from "./base.js";
import { attach, clips, clipsWait, resultKept } from "./clips.js";
import { join, watch } from "./watching.js";

// --- the operator's page ---------------------------------------------------------------------------------------

let status = store.read("status", null), away = false, signedOut = false, busy = false, again = false, tries = 0, timer = null, why = "", fault = "", idle = false;

const ops = () => store.names("op:").map((name) => ({ name, ...store.read(name, {}) })).filter((op) => op.kind);
const turns = () => store.read("turns", []);

function current() { // the first turn held here that no waiting entry settles
  const done = new Map(), voided = new Set();
  for (const op of ops()) {
    if (op.kind === "record") done.set(op.turn, op.body.attempt);
    if (op.kind === "undo" && done.get(op.turn) === op.body.attempt) done.delete(op.turn);
    if (op.kind === "void") voided.add(op.block);
  }
  const open = turns().filter((turn) => !done.has(turn.number) && !voided.has(turn.block));
  const kept = store.read("timer", null); // what has been started stays, whatever else becomes free
  return open.find((turn) => kept && kept.turn === turn.number && kept.attempt === turn.attempt) ?? open[0] ?? null;
}

const word = (result) => (result === true ? "success" : result === false ? "failure" : `score ${result}`);

function learned(told) { // kept, so that a page loaded while the server is away knows no less than before
  status = told;
  store.write("status", told);
}

function enqueue(op) {
  store.write(`op:${stamp()}`, op);
  if (busy) again = true;
  render();
  pump();
}

async function pump() { // send what waits, in order; then ask for turns
  if (busy) return;
  busy = true;
  clearTimeout(timer);
  try {
    for (let op = ops()[0]; op; op = ops()[0]) await send(op);
    if (!store.read("ended", false)) await refill();
    away = signedOut = false;
    fault = "";
    tries = 0;
    if (idle) timer = setTimeout(pump, 4000); // others hold every turn: look again
  } catch (error) {
    if (error instanceof SignedOut) signedOut = true;
    else if (!(error instanceof Away)) throw error;
    away = true;
    why = error.message;
    fault = error.told ? `${why} What you enter waits in this browser.` : ""; // the server is there and cannot keep it: somebody must look
    timer = setTimeout(pump, Math.min(15000, 1000 * 2 ** tries++));
  } finally {
    busy = false;
    render();
    if (again) { again = false; pump(); }
  }
}

async function send(op) {
  const path = { check: "/checks", release: "/release" }[op.kind] ?? `/turns/${op.turn}/${op.kind}`;
  const answer = await ask(path, op.body);
  if (!answer.ok) store.write(`refused:${op.name.slice(3)}`, { turn: op.turn, code: op.code, kind: op.kind, said: answer.said });
  if (answer.ok) learned(answer.content.status);
  if (answer.ok && op.kind === "record") settled(`Turn ${op.turn} · ${op.code} is recorded as a ${word(op.body.result)}.`);
  if (op.kind === "record") resultKept(op.turn, op.body.attempt, answer.ok);
  if (op.kind === "record") store.write("turns", turns().filter((turn) => turn.number !== op.turn || turn.attempt > op.body.attempt));
  if (op.kind === "void") store.write("turns", turns().filter((turn) => turn.block !== op.block));
  store.drop(op.name);
  render();
}

async function refill() {
  const answer = await ask("/turns/next", { ahead: Number(ahead) });
  if (!answer.ok) throw new Away(answer.said);
  const { turn, ahead: more, waiting } = answer.content;
  learned(answer.content.status);
  idle = waiting;
  if (!ops().length) store.write("turns", turn ? [turn, ...more] : []); // else the answer is older than what was entered
}

const clock = () => {
  const turn = current(), kept = store.read("timer", null);
  return turn && kept && kept.turn === turn.number && kept.attempt === turn.attempt ? kept : null;
};
const seconds = (kept) => Math.max(0, ((kept.stop ?? Date.now()) - kept.start) / 1000);

function startOrStop() {
  const turn = current(), kept = clock();
  if (!turn) return;
  if (!kept) store.write("timer", { turn: turn.number, attempt: turn.attempt, start: Date.now() });
  else if (kept.stop) store.write("timer", { ...kept, start: Date.now() - (kept.stop - kept.start), stop: undefined });
  else store.write("timer", { ...kept, stop: Date.now() });
  render();
}

function outcome(result) {
  const turn = current(), kept = clock();
  if (!turn) return;
  if (!kept) { // a second tap on the same button lands here: the next turn has not been started
    say("Press Start first: this turn has not begun.");
    $("start").focus();
    return;
  }
  let failure = $("failure").value.trim(), note = $("note").value.trim();
  if (failure && Number(result) >= Number(best)) [failure, note] = ["", [failure, note].filter(Boolean).join("; ")];
  if (failure) store.write("failures", [failure, ...store.read("failures", []).filter((old) => old !== failure)].slice(0, 12));
  const body = { result, duration: Math.round(seconds(kept) * 100) / 100, note, failure, request: stamp(), attempt: turn.attempt, holder: turn.holder };
  attach(turn);
  store.drop("timer");
  store.write("recent", [{ ...turn, result }, ...store.read("recent", []).filter((old) => old.number !== turn.number)].slice(0, 8));
  $("failure").value = $("note").value = "";
  if ($("score")) $("score").value = "";
  navigator.vibrate?.(30);
  settled(`Turn ${turn.number} · ${turn.code}: a ${word(result)}, kept here, not yet sent.`);
  enqueue({ kind: "record", turn: turn.number, code: turn.code, block: turn.block, body });
  $("start").focus({ preventScroll: true });
}

function undo() {
  const number = Number($("undo-turn").value), recent = store.read("recent", []);
  const turn = recent.find((old) => old.number === number);
  if (!turn) return;
  const reason = document.querySelector("input[name=undo-reason]:checked").value;
  store.write("recent", recent.filter((old) => old.number !== number));
  const others = turns().filter((other) => other.number !== number);
  store.write("turns", [{ ...turn, attempt: turn.attempt + 1 }, ...others].sort((one, other) => one.number - other.number));
  store.drop("timer");
  enqueue({ kind: "undo", turn: number, code: turn.code, block: turn.block, body: { reason, attempt: turn.attempt } });
  settled(`Turn ${number} · ${turn.code}: ${turn.result === undefined ? "its result" : `the ${word(turn.result)}`} is undone.`);
}

function voidPair() {
  const turn = current(), reason = document.querySelector("input[name=void-reason]:checked")?.value;
  if (!turn || !reason) return;
  store.drop("timer");
  store.write("recent", store.read("recent", []).filter((old) => old.block !== turn.block));
  enqueue({ kind: "void", turn: turn.number, code: turn.code, block: turn.block, body: { reason, note: $("void-note").value.trim() } });
  say(`Turn ${turn.number} and the rest of its ${unit.slice(0, -1)} are void.`);
}

function endSession() { // what this device holds goes to whoever asks next; what was entered is sent first
  const held = turns().length;
  store.write("ended", true);
  store.write("turns", []);
  store.drop("timer");
  enqueue({ kind: "release", body: {} });
  settled(held ? `The session is ended; ${held} ${held === 1 ? "turn is" : "turns are"} handed back.` : "The session is ended.");
}

function beginAgain() {
  store.drop("ended");
  render();
  pump();
}

async function takeOver() { // the turns of a device that has left come free, and the oldest of them here
  const holder = status?.waits?.holder;
  if (!holder) return;
  try {
    const answer = await ask("/release", { holder });
    say(answer.ok ? "Its turns can be handed out again." : answer.said);
  } catch (error) { say(error.message); }
  pump();
}

function checked() {
  const items = [...document.querySelectorAll("input[name=check-item]:checked")].map((box) => box.value);
  store.write("checked", Date.now());
  enqueue({ kind: "check", body: { items, note: $("check-note").value.trim() } });
  say("The checklist is logged.");
}

function settled(text) { // said, and shown until the next
  store.write("last", text);
  $("last").textContent = text;
  say(text);
}

let saidAt = 0;
function say(text) {
  $("said").textContent = text;
  saidAt = Date.now();
}

const minutes = (total) => `${Math.floor(total / 60)}:${String(Math.floor(total % 60)).padStart(2, "0")}`;

function tick() {
  const kept = clock(), spent = kept ? seconds(kept) : 0, over = limit && spent > Number(limit);
  $("clock").textContent = minutes(spent);
  const state = !kept ? "ready" : kept.stop ? "stopped" : "running";
  if (over && $("timer").dataset.over !== "yes" && state === "running") { say("Over the time limit."); navigator.vibrate?.([80, 60, 80]); }
  Object.assign($("timer").dataset, { state, over: over ? "yes" : "no" });
}

function stopped() {
  const after = `${status.blocks} ${status.blocks === 1 ? unit.slice(0, -1) : unit}`;
  if (status.ending === "verdict") return `The declared rule has decided after ${after}.`;
  if (status.ending === "futility") return `Undecided after ${after}: hardly any chance is left that the declared rule decides.`;
  if (status.blocks < status.horizon) return `Undecided after ${after}: the declared rule cannot decide any more.`;
  return `All ${unit} that were planned have been run, and the declared rule has not decided.`;
}

function render() {
  const turn = current(), waiting = ops(), refused = store.names("refused:"), over = status?.finished && !waiting.length && !away;
  $("stop").hidden = !over;
  $("turn").hidden = $("controls").hidden = over || !turn;
  $("idle").hidden = over || Boolean(turn);
  if (status) {
    $("pairs").textContent = status.blocks;
    $("horizon").textContent = $("bar").max = status.horizon;
    $("bar").value = status.blocks;
    $("decision").textContent = status.decision[0].toUpperCase() + status.decision.slice(1);
    $("decision").dataset.ending = status.ending ?? "";
    $("stop-title").textContent = status.ending === "verdict" ? "Stop: decided" : "Stop";
    $("stop-text").textContent = `${stopped()} No further rollout is needed.`;
  }
  const stalled = !over && !away && status?.waits?.stalled ? status.waits : null;
  $("waits").hidden = !stalled;
  if (stalled && $("waits-text").textContent !== stalled.sentence) $("waits-text").textContent = stalled.sentence;
  if (turn) {
    $("turn-label").textContent = `Turn ${turn.number}${turn.attempt > 1 ? ", to record again" : ""}`;
    $("code").textContent = turn.code;
    $("chips").replaceChildren(...[turn.task, turn.condition].filter(Boolean).map((text) => made("li", text)));
    $("same").hidden = !turn.same_start_as;
    $("same").textContent = turn.same_start_as ? `Same start as turn ${turn.same_start_as}: set it up in the same way.` : "";
  } else {
    $("idle-title").textContent = store.read("ended", false) && !signedOut ? "The session is ended" : signedOut ? "Signed out" : away ? "No more turns are known here" : idle ? "Others hold the turns that come next" : "Asking for a turn";
    $("idle-text").textContent = store.read("ended", false) && !signedOut ? "What this device held is handed back. What was entered is kept." : signedOut ? "Scan the code again; what you entered is kept." : away
      ? "What you entered is kept in this browser. It is sent, and the next turn comes, as soon as the server is back."
      : idle ? "A turn appears here as soon as one is free." : "";
  }
  $("again").hidden = !store.read("ended", false);
  $("end").disabled = store.read("ended", false);
  $("last").textContent = store.read("last", "");
  $("log").textContent = status?.head ? `Log: ${status.version} lines, mark ${status.version}:${status.head.slice(0, 16)}` : "";
  const kept = clock();
  const act = !kept ? "Start" : kept.stop ? "Resume" : "Stop";
  if (!$("start").firstChild.textContent.startsWith(act)) $("start").firstChild.textContent = `${act} `;
  $("start").classList.toggle("primary", !kept);
  $("outcomes").dataset.ready = kept ? "yes" : "no";
  for (const button of document.querySelectorAll(".outcome")) button.setAttribute("aria-disabled", kept ? "false" : "true");
  $("undo").disabled = !store.read("recent", []).length;
  $("void").disabled = !turn;
  $("failures").replaceChildren(...store.read("failures", []).map((text) => Object.assign(document.createElement("option"), { value: text })));

  const state = signedOut ? "out" : away ? "offline" : waiting.length ? "sending" : "online";
  $("pill").dataset.state = refused.length && state === "online" ? "refused" : state;
  const count = waiting.length ? ` · ${waiting.length} waiting` : "";
  $("pill").textContent = { out: `Signed out${count}`, offline: `Offline${count}`, sending: `Sending${count}`, online: refused.length ? `${refused.length} refused` : "Online" }[state];
  $("queue-text").textContent = { out: "This browser must join again before anything can be sent.", offline: `${why} Entries wait in this browser and are sent once, in order.`, sending: "Entries are being sent.", online: "The server has confirmed everything entered here." }[state]
    + (keeps() ? "" : " This browser cannot store entries: do not close this page while entries wait.");
  const kinds = { record: "result", undo: "undo", void: "void", check: "checklist", release: "end of session" };
  $("queue").replaceChildren(...waiting.map((op) => made("li", `${op.turn ? `Turn ${op.turn} · ${op.code} · ` : ""}${kinds[op.kind]}`)));
  $("refusals").replaceChildren(...refused.map((name) => refusal(name, store.read(name, {}), kinds)));
  const alarm = refused.length ? store.read(refused.at(-1), {}).said ?? "" : fault;
  $("alert").hidden = !alarm;
  if ($("alert").textContent !== alarm) $("alert").textContent = alarm;
  tick();
}

function refusal(name, entry, kinds) {
  const row = made("div", `${entry.code ?? ""} · ${kinds[entry.kind]}: ${entry.said} `);
  row.className = "alert";
  const button = Object.assign(made("button", "I have seen this"), { type: "button" });
  button.addEventListener("click", () => { store.drop(name); render(); });
  row.append(button);
  return row;
}

function opens(id) {
  const box = $(id);
  if (id === "undo-box") {
    $("undo-turn").replaceChildren(...store.read("recent", []).map((turn) => Object.assign(made("option", `Turn ${turn.number} · ${turn.code}${turn.result === undefined ? "" : ` · ${word(turn.result)}`}`), { value: turn.number })));
  }
  box.returnValue = "";
  box.showModal();
}

function pressed(event) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.querySelector("dialog[open]"), typing = event.target.matches("input:not([type=radio], [type=checkbox]), select, textarea");
  if (typing) {
    if (!box && ["Enter", "Escape"].includes(event.key)) {
      event.preventDefault();
      if (event.target.id === "score" && event.key === "Enter") $("send-score").click();
      else $("start").focus();
    }
    return;
  }
  const key = event.key.toLowerCase();
  const target = [...(box ?? document).querySelectorAll("[data-key]")].find((one) => one.dataset.key === key && !one.disabled && (box || !one.closest("dialog")) && one.offsetParent !== null);
  if (target) {
    event.preventDefault();
    if (target.matches("input:not([type=radio], [type=checkbox])")) target.focus();
    else if (target.matches("input")) { target.click(); target.focus(); }
    else target.click();
  } else if (box && key === "enter" && event.target.matches("input")) {
    event.preventDefault();
    box.querySelector("form").requestSubmit(box.querySelector("menu button:last-child"));
  } else if (!box && ["enter", " "].includes(key) && !event.target.matches("button, a, summary")) {
    event.preventDefault();
    startOrStop();
  }
}

function operate() {
  document.addEventListener("keydown", pressed);
  clips(say);
  $("start").addEventListener("click", startOrStop);
  for (const button of document.querySelectorAll("[data-result]")) button.addEventListener("click", () => outcome(JSON.parse(button.dataset.result)));
  $("send-score")?.addEventListener("click", () => {
    const field = $("score");
    if (field.value !== "" && field.checkValidity()) outcome(Number(field.value));
    else { say("Type a score within the range."); field.focus(); }
  });
  for (const button of document.querySelectorAll("[data-opens]")) button.addEventListener("click", () => opens(button.dataset.opens));
  $("pill").addEventListener("click", () => opens("queue-box"));
  $("take-over").addEventListener("click", takeOver);
  $("again").addEventListener("click", beginAgain);
  const after = { "undo-box": ["undo", undo], "void-box": ["void", voidPair], "check-box": ["check", checked], "end-box": ["end", endSession], "queue-box": ["send", pump] };
  for (const [id, [word, then]] of Object.entries(after)) {
    $(id).addEventListener("close", () => { if ($(id).returnValue === word) then(); if (!document.activeElement?.matches("input, select")) $("start").focus({ preventScroll: true }); });
  }
  if (limit) $("limit").textContent = minutes(Number(limit));
  window.addEventListener("online", pump);
  window.addEventListener("offline", () => { away = true; why = "There is no network."; render(); pump(); });
  window.addEventListener("storage", render);
  const source = new EventSource("/api/v1/events");
  source.addEventListener("status", (event) => {
    const was = status, told = JSON.parse(event.data);
    if (told.study !== study) return;
    learned(told);
    render();
    if (away || was?.finished !== status.finished || (!current() && !status.finished)) pump();
  });
  source.addEventListener("error", () => { if (!away) pump(); });
  window.addEventListener("beforeunload", (event) => { // without a worker this page cannot come back before the server does
    if (clipsWait() || (ops().length && !(keeps() && navigator.serviceWorker?.controller))) event.preventDefault();
  });
  navigator.serviceWorker?.register("/worker.js", { scope: "/run", updateViaCache: "none" }).catch(() => {}); // offline, or not trusted
  setInterval(tick, 200);
  render();
  pump();
  if (Date.now() - store.read("checked", 0) > 12 * 3600 * 1000) setTimeout(() => $("check").classList.add("due"), 0);
}

if (page === "join") join();
else if (page === "watch") watch();
else if (page === "run") operate();
