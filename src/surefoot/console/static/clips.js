/* A clip is chosen before its result and sent after it, so that no result waits for a video. A browser cannot keep a file
   for later: the page says so, and must stay open until the clip is sent. */
import { $, made, mark, study } from "./base.js";

const AWAY = [0, 401, 408, 421, 429, 502, 503, 504];
let chosen = null, told = () => {};
const waiting = []; // each: turn, code, attempt, file, state, share, said

export const clipsWait = () => waiting.some((one) => !["kept", "refused"].includes(one.state));

export function attach(turn) { // the clip that was chosen goes with this turn's result
  if (!chosen) return;
  waiting.push({ turn: turn.number, code: turn.code, attempt: turn.attempt, file: chosen, state: "recorded", share: 0, tries: 0 });
  choose(null);
}

export function resultKept(number, attempt, kept) { // the server has the result, or has refused it: now its clip
  const one = waiting.find((each) => each.turn === number && each.attempt === attempt && each.state === "recorded");
  if (!one) return;
  if (kept) { one.state = "waiting"; next(); } else waiting.splice(waiting.indexOf(one), 1);
  draw();
}

function next() { // one at a time, the oldest first
  const one = waiting.find((each) => each.state === "waiting");
  if (one && !waiting.some((each) => each.state === "sending")) send(one);
}

function send(one) {
  Object.assign(one, { state: "sending", share: 0, said: "" });
  const query = new URLSearchParams({ name: one.file.name.slice(-150), attempt: one.attempt });
  const request = new XMLHttpRequest();
  request.open("POST", `/api/v1/turns/${one.turn}/clip?${query}`);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  for (const [name, value] of Object.entries({ "X-Surefoot-Study": study, ...mark() })) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", (event) => { one.share = event.lengthComputable ? event.loaded / event.total : 0; draw(); });
  request.addEventListener("loadend", () => {
    let answer = {};
    try { answer = JSON.parse(request.responseText); } catch { /* cut off */ }
    if (request.status === 200) { one.state = "kept"; told(`The clip of turn ${one.turn} is kept.`); }
    else if (AWAY.includes(request.status)) {
      one.state = "later";
      one.said = answer.error ?? "The server cannot be reached.";
      setTimeout(() => { if (one.state === "later") { one.state = "waiting"; next(); draw(); } }, Math.min(30000, 1000 * 2 ** one.tries++));
    } else { one.state = "refused"; one.said = [answer.error, answer.hint].filter(Boolean).join(" ") || "It was refused."; }
    draw();
    next();
  });
  request.send(one.file);
  draw();
}

const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

function choose(file) {
  const most = Number($("clip-file").dataset.most);
  chosen = file && file.size <= most ? file : null;
  $("clip-camera").value = $("clip-file").value = "";
  $("clip-chosen").hidden = !file;
  $("clip-name").textContent = !file ? "" : chosen ? `${file.name} (${size(file.size)}) goes with this result.` : `${file.name} is not added: a clip may hold at most ${size(most)}.`;
}

function draw() {
  const words = {
    recorded: () => " waits for its result to be sent",
    waiting: () => " waits to be sent",
    sending: (one) => `: ${Math.round(100 * one.share)}% sent`,
    later: (one) => `: ${one.said} It will be sent again automatically.`,
    kept: () => " is kept",
    refused: (one) => `: ${one.said}`,
  };
  const shown = waiting.filter((one) => one.state !== "kept" || one === waiting.filter((each) => each.state === "kept").at(-1));
  $("clips").replaceChildren(...shown.map((one) => {
    const row = made("li", `Clip of turn ${one.turn} · ${one.code}${words[one.state](one)} `);
    row.dataset.state = one.state;
    if (one.state === "sending") row.append(Object.assign(document.createElement("progress"), { value: one.share, max: 1, ariaLabel: `Clip of turn ${one.turn}` }));
    if (["later", "refused"].includes(one.state)) row.append(button("Try again", () => { one.state = "waiting"; next(); draw(); }), button("Leave it out", () => { waiting.splice(waiting.indexOf(one), 1); draw(); }));
    return row;
  }));
  $("clips-hint").hidden = !waiting.some((one) => !["kept", "refused"].includes(one.state));
}

function button(text, then) {
  const one = Object.assign(made("button", text), { type: "button" });
  one.addEventListener("click", then);
  return one;
}

export function clips(say) {
  told = say;
  for (const id of ["clip-camera", "clip-file"]) $(id).addEventListener("change", (event) => choose(event.target.files[0] ?? null));
  $("clip-remove").addEventListener("click", () => choose(null));
}
