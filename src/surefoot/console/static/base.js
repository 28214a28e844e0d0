/* What every page of the console stands on: asking the server, and what this browser keeps. */
export const { study, page, ahead, best, unit } = document.body.dataset;
export const $ = (id) => document.getElementById(id);
export const made = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

// --- talking to the server -------------------------------------------------------------------------------------

export class Away extends Error {}
export class SignedOut extends Error {}

export function mark() { // the last line of the log that this browser was told of: the server shows it, or says that it cannot
  const { version, head } = store.read("status", null) ?? {};
  return head ? { "X-Surefoot-Mark": `surefoot-log:${study}:${version}:${head.slice(0, 16)}` } : {};
}

export async function ask(path, data) {
  const options = { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(10000) };
  options.headers = mark();
  if (data !== undefined) {
    Object.assign(options, { method: "POST", body: JSON.stringify(data) });
    Object.assign(options.headers, { "Content-Type": "application/json", "X-Surefoot-Study": study }); // another study may be served here by now
  }
  let answer, content;
  try {
    answer = await fetch(`/api/v1${path}`, options);
    content = await answer.json();
  } catch {
    throw new Away("The server cannot be reached.");
  }
  if ([421, 429, 502, 503, 504].includes(answer.status)) throw Object.assign(new Away(content.error), { told: true });
  if (answer.status === 401) throw new SignedOut();
  if (content.why === "witness") { // what this browser knows is not in the log: nothing is dropped, and somebody must look
    store.write("contradicted", true);
    throw Object.assign(new Away(`${content.error} ${content.hint}`), { told: true });
  }
  return { ok: answer.ok, said: [content.error, content.hint].filter(Boolean).join(" "), content };
}

// --- what this browser keeps -----------------------------------------------------------------------------------

const prefix = `surefoot:${study}:`;
const memory = new Map(); // when the browser keeps nothing (private windows): better than nothing, and said
let durable = true;
export const keeps = () => durable; // whether what is written outlives this page
export const store = {
  read(name, otherwise) {
    let text = memory.get(name);
    try { text = localStorage.getItem(prefix + name) ?? text; } catch { durable = false; }
    try { return text === undefined || text === null ? otherwise : JSON.parse(text); } catch { return otherwise; }
  },
  write(name, value) {
    const text = JSON.stringify(value);
    try { localStorage.setItem(prefix + name, text); memory.delete(name); } catch { durable = false; memory.set(name, text); }
  },
  drop(name) {
    memory.delete(name);
    try { localStorage.removeItem(prefix + name); } catch { durable = false; }
  },
  names(start) {
    let names = [];
    try { names = Object.keys(localStorage).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)); } catch { durable = false; }
    return [...new Set([...names, ...memory.keys()])].filter((name) => name.startsWith(start)).sort();
  },
};

let lastStamp = 0;
export function stamp() { // rises even when the clock does not, so that order is kept
  const newest = Number((store.names("op:").at(-1) ?? "").slice(3, 18)) || 0;
  lastStamp = Math.max(Date.now(), lastStamp + 1, newest + 1);
  const chance = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${String(lastStamp).padStart(15, "0")}-${chance}`;
}
