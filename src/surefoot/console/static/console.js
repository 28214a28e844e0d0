/* The console in a browser. Results are put into localStorage before they are sent, sent in order, and dropped only when
   the server has acknowledged them; every request carries a key, so that it is carried out once. */
import { $, Away, SignedOut, ahead, ask, best, keeps, made, page, stamp, store, study, unit } from "./base.js";
import { attach, clips, clipsWait, resultKept } from "./clips.js";
import { join, watch } from "./watching.js";

// --- the operator's page ---------------------------------------------------------------------------------------

let status = store.read("status", null), away = false, signedOut = false, busy = false, again = false, tries = 0, timer = null, why = "", fault = "", idle = false;

const { low, measure, silence } = document.body.dataset, tasks = JSON.parse(document.body.dataset.tasks ?? "{}");
const about = (turn) => tasks[turn?.task ?? ""] ?? tasks[""] ?? { stages: [], tags: [], reset: [] };
const limitOf = (turn) => Number(about(turn).limit ?? 0);

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
  const again = open.find((turn) => taken(turn) !== null); // one that was undone lacks its outcome only
  const kept = store.read("timer", null); // what has been started stays, whatever else becomes free
  return again ?? open.find((turn) => kept && kept.turn === turn.number && kept.attempt === turn.attempt) ?? open[0] ?? null;
}

const taken = (turn) => { // how long an undone rollout had taken
  const kept = store.read("taken", {})[turn.number];
  return kept?.attempt === turn.attempt ? kept.seconds : null;
};
const dropTaken = (number) => store.write("taken", Object.fromEntries(Object.entries(store.read("taken", {})).filter(([old]) => Number(old) !== number)));

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
  if (answer.ok && op.kind === "record") settled(`Turn ${op.turn} · ${op.code} is recorded as ${op.told ?? `a ${word(op.body.result)}`}.`);
  if (op.kind === "record") resultKept(op.turn, op.body.attempt, answer.ok);
  if (op.kind === "record") store.write("turns", turns().filter((turn) => turn.number !== op.turn || turn.attempt > op.body.attempt));
  if (op.kind === "void") store.write("turns", turns().filter((turn) => turn.block !== op.block));
  store.drop(op.name);
  render();
}

async function refill() {
  const answer = await ask("/turns/next", { ahead: Number(ahead), rig: $("rig")?.value ?? "" });
  if (!answer.ok) throw new Away(answer.said);
  const { turn, ahead: more, waiting } = answer.content;
  learned(answer.content.status);
  idle = waiting;
  if (!ops().length) store.write("turns", turn ? [turn, ...more] : []); // else the answer is older than what was entered
}

const clock = () => {
  const turn = current(), before = turn && taken(turn);
  if (turn && before !== null) return { start: 0, stop: 1000 * before };
  const kept = store.read("timer", null);
  return turn && kept && kept.turn === turn.number && kept.attempt === turn.attempt ? kept : null;
};
const seconds = (kept) => Math.max(0, ((kept.stop ?? Date.now()) - kept.start) / 1000);

function startOrStop() {
  const turn = current(), kept = clock();
  if (!turn || taken(turn) !== null) return;
  if (!kept) store.write("timer", { turn: turn.number, attempt: turn.attempt, start: Date.now() });
  else if (kept.stop) store.write("timer", { ...kept, start: Date.now() - (kept.stop - kept.start), stop: undefined });
  else store.write("timer", { ...kept, stop: Date.now() });
  render();
}

function outcome(result, stage) { // of a stage, its points or its success
  const turn = current(), kept = clock();
  if (!turn) return;
  if (!kept) { // a second tap on the same button lands here: the next turn has not been started
    say("Press Start first: this turn has not begun.");
    $("start").focus();
    return;
  }
  let failure = $("failure").value.trim(), note = $("note").value.trim();
  if (failure && Number(result) >= Number(best)) [failure, note] = ["", [failure, note].filter(Boolean).join("; ")];
  if (failure && !about(turn).tags.includes(failure)) store.write("failures", [failure, ...store.read("failures", []).filter((old) => old !== failure)].slice(0, 12));
  const took = Math.round(seconds(kept) * 100) / 100, told = stage ? `“${stage}”` : `a ${word(result)}`;
  const body = { ...(stage ? { stage } : { result }), duration: took, note, failure, request: stamp(), attempt: turn.attempt, holder: turn.holder };
  attach(turn);
  if (taken(turn) === null) store.drop("timer");
  dropTaken(turn.number);
  store.write("recent", [{ ...turn, result, took, told }, ...store.read("recent", []).filter((old) => old.number !== turn.number)].slice(0, 8));
  $("failure").value = $("note").value = "";
  if ($("score")) $("score").value = "";
  navigator.vibrate?.(30);
  settled(`Turn ${turn.number} · ${turn.code}: ${told}, kept here, not yet sent.`);
  enqueue({ kind: "record", turn: turn.number, code: turn.code, block: turn.block, told, body });
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
  if (turn.took !== undefined) store.write("taken", { ...store.read("taken", {}), [number]: { attempt: turn.attempt + 1, seconds: turn.took } });
  enqueue({ kind: "undo", turn: number, code: turn.code, block: turn.block, body: { reason, attempt: turn.attempt } });
  settled(`Turn ${number} · ${turn.code}: ${turn.told ? turn.told.replace(/^a /, "the ") : "its result"} is undone.`);
}

function voidPair() {
  const turn = current(), reason = document.querySelector("input[name=void-reason]:checked")?.value;
  if (!turn || !reason) return;
  if (taken(turn) === null) store.drop("timer");
  dropTaken(turn.number);
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

function moved() { // to another rig: what was held for the one before, and not begun, goes to whoever is there
  store.write("rig", $("rig").value);
  store.write("turns", []);
  enqueue({ kind: "release", body: {} });
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
  const kept = clock(), spent = kept ? seconds(kept) : 0, most = limitOf(current()), over = most && spent > most;
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
  $("take-over").hidden = !stalled?.silent;
  if (stalled) $("take-hint").textContent = stalled.silent
    ? "If that device is no longer in use, take its turns over. If it is still in use, its results will be refused."
    : `Its turns can be taken over once it has been silent for ${silence} ${silence === "1" ? "minute" : "minutes"}.`;
  if (turn) {
    $("turn-label").textContent = `Turn ${turn.number}${turn.attempt > 1 ? ", to record again" : ""}`;
    $("code").textContent = turn.code;
    $("chips").replaceChildren(...[turn.rig, turn.task, turn.task ? turn.condition?.replace(/^\d+$/, "condition $&") : turn.condition, turn.operator && `by ${turn.operator}`].filter(Boolean).map((text) => made("li", text)));
    if ($("turn").dataset.of !== `${turn.number}.${turn.attempt}`) dress(turn);
    $("same").hidden = !turn.same_start_as;
    $("same").textContent = turn.same_start_as ? `Same start as turn ${turn.same_start_as}: set it up in the same way.` : "";
  } else {
    $("idle-title").textContent = store.read("ended", false) && !signedOut ? "The session is ended" : signedOut ? "Signed out" : away ? "No more turns are known here" : idle ? ($("rig")?.value ? `No turn at ${$("rig").value} now` : "Others hold the turns that come next") : "Asking for a turn";
    $("idle-text").textContent = store.read("ended", false) && !signedOut ? "What this device held is handed back. What was entered is kept." : signedOut ? "Scan the code again; what you entered is kept." : away
      ? "What you entered is kept in this browser. It is sent, and the next turn comes, as soon as the server is back."
      : idle ? `${status?.waits && !stalled ? `${status.waits.sentence} ` : ""}A turn appears here as soon as one is free.` : "";
  }
  $("again").hidden = !store.read("ended", false);
  $("end").disabled = store.read("ended", false);
  $("last").textContent = store.read("last", "");
  $("log").textContent = status?.head ? `Log: ${status.version} lines, mark ${status.version}:${status.head.slice(0, 16)}` : "";
  const kept = clock(), undone = Boolean(turn) && taken(turn) !== null;
  $("start").hidden = undone;
  if ($("rig")) $("rig").disabled = away || Boolean(kept); // what has begun is finished where it is
  if (undone) $("turn-label").textContent = `Turn ${turn.number}, to record again: its ${minutes(seconds(kept))} stays`;
  for (const button of $("tags").children) button.setAttribute("aria-pressed", button.textContent === $("failure").value ? "true" : "false");
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
  const kinds = { record: "result", undo: "undo", void: "void", check: "checklist", release: "turns handed back" };
  $("queue").replaceChildren(...waiting.map((op) => made("li", `${op.turn ? `Turn ${op.turn} · ${op.code} · ` : ""}${kinds[op.kind]}`)));
  $("refusals").replaceChildren(...refused.map((name) => refusal(name, store.read(name, {}), kinds)));
  const alarm = refused.length ? store.read(refused.at(-1), {}).said ?? "" : fault;
  $("alert").hidden = !alarm;
  if ($("alert").textContent !== alarm) $("alert").textContent = alarm;
  tick();
}

const usual = [...($("outcomes")?.childNodes ?? [])]; // the buttons where a task names no stages
function dress(turn) { // what this turn's task says, and its buttons
  const { instruction, reset, stages, tags } = about(turn);
  $("turn").dataset.of = `${turn.number}.${turn.attempt}`;
  $("instruction").hidden = !instruction;
  $("instruction").lastElementChild.textContent = instruction ?? "";
  $("reset").hidden = !reset.length;
  $("reset").lastElementChild.replaceChildren(...reset.map((text) => made("li", text)));
  $("limit-of").hidden = !limitOf(turn);
  $("limit").textContent = minutes(limitOf(turn));
  $("tags").hidden = !tags.length;
  $("tags").replaceChildren(...tags.map((tag) => {
    const button = Object.assign(made("button", tag), { type: "button" });
    button.addEventListener("click", () => { $("failure").value = $("failure").value === tag ? "" : tag; render(); });
    return button;
  }));
  $("turn").classList.toggle("told", Boolean(instruction) || reset.length > 0);
  $("outcomes").classList.toggle("stages", stages.length > 0);
  if (!stages.length) $("outcomes").replaceChildren(...usual);
  if (!stages.length) return;
  $("outcomes").replaceChildren(...[{ name: "", points: 0, success: false }, ...stages].map(({ name, points, success }, place) => {
    const button = Object.assign(made("button", name || "none of these"), { type: "button", className: `outcome level stage${success ? " good" : ""}` });
    if (place < 10) { button.dataset.key = String(place); button.setAttribute("aria-keyshortcuts", String(place)); button.append(" ", made("kbd", String(place))); }
    button.addEventListener("click", () => outcome(measure === "success" ? success : Number(low) + points, name));
    return button;
  }));
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
    $("undo-turn").replaceChildren(...store.read("recent", []).map((turn) => Object.assign(made("option", `Turn ${turn.number} · ${turn.code}${turn.told ? ` · ${turn.told.replace(/^a /, "")}` : ""}`), { value: turn.number })));
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
  if ($("rig")) {
    $("rig").value = store.read("rig", "");
    if (!$("rig").value) $("rig").value = ""; // the plan names it no more
    $("rig").addEventListener("change", moved);
  }
  $("again").addEventListener("click", beginAgain);
  const after = { "undo-box": ["undo", undo], "void-box": ["void", voidPair], "check-box": ["check", checked], "end-box": ["end", endSession], "queue-box": ["send", pump] };
  for (const [id, [word, then]] of Object.entries(after)) {
    $(id).addEventListener("close", () => { if ($(id).returnValue === word) then(); if (!document.activeElement?.matches("input, select")) $("start").focus({ preventScroll: true }); });
  }
  $("failure").addEventListener("input", render);
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
  setInterval(() => { if (!away && !signedOut && turns().length) ask("/status").catch(() => {}); }, 30000); // somebody is here: nobody takes these turns over
  render();
  pump();
  if (Date.now() - store.read("checked", 0) > 12 * 3600 * 1000) setTimeout(() => $("check").classList.add("due"), 0);
}

if (page === "join") join();
else if (page === "watch") watch();
else if (page === "run") operate();
