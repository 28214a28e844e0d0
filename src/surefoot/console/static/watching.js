/* The pages that only watch a study, and the page on which one joins. */
import { $, SignedOut, ask, store } from "./base.js";

// --- pages that only watch -------------------------------------------------------------------------------------

async function freshen() {
  let text;
  try {
    const answer = await fetch(location.pathname, { credentials: "same-origin", cache: "no-store" });
    if (!answer.ok) return;
    text = await answer.text();
  } catch { return; }
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const old of document.querySelectorAll("[data-fresh]")) {
    const replacement = fresh.getElementById(old.id);
    const typing = old.contains(document.activeElement) && document.activeElement.matches("input, select");
    if (replacement && !typing && replacement.innerHTML !== old.innerHTML) old.replaceWith(document.adoptNode(replacement));
  }
}

export function watch() {
  const source = new EventSource("/api/v1/events");
  let seen = null;
  source.addEventListener("status", (event) => {
    if (seen !== null && seen !== event.lastEventId) freshen();
    seen = event.lastEventId;
  });
  setInterval(freshen, 30000); // how long a turn has been held changes by itself
  document.addEventListener("submit", async (event) => {
    const form = event.target.closest("form[data-api]");
    if (!form) return;
    event.preventDefault();
    const alert = form.querySelector(".alert");
    const fields = Object.fromEntries(new FormData(form));
    let said;
    try {
      const data = await ({ amend: amendment, join: addition, replace: replacement }[form.dataset.kind]?.(fields)) ?? fields;
      const answer = await ask(form.dataset.api, data);
      if (answer.ok) { form.reset(); document.activeElement.blur(); await freshen(); $("said").textContent = "Done."; return; }
      said = answer.said;
    } catch (error) { said = error instanceof SignedOut ? "You are signed out: join again." : error.message; }
    if (alert) Object.assign(alert, { textContent: said, hidden: false });
  });
}

function amendment(fields) {
  return { changes: { [fields.field]: parsed(fields.value) }, reason: fields.reason };
}

async function addition(fields) {
  const { policies } = (await ask("/plan")).content.plan; // as they are now: another may have joined meanwhile
  return { changes: { policies: [...policies, fields.policy.trim()] }, reason: fields.reason };
}

async function replacement({ policy, checkpoint, reason }) { // the rest of what is known of each policy stays
  const { policies, policy_details } = (await ask("/plan")).content.plan;
  const known = new Map(policy_details.map(({ type, schema, ...one }) => [one.name, one]));
  known.set(policy, { ...known.get(policy), name: policy, checkpoint, sha256: "" });
  return { changes: { policies: policies.map((name) => known.get(name) ?? name) }, reason };
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return text; }
}

// --- joining ---------------------------------------------------------------------------------------------------

export async function join() {
  const token = decodeURIComponent(location.hash.slice(1));
  if (token && store.read("contradicted", false)) for (const name of ["contradicted", "status"]) store.drop(name); // the owner lets it begin anew
  if (token) {
    history.replaceState(null, "", "/join"); // the token must not stay in the address bar or the history
    $("token").value = token;
    $("token-row").hidden = true;
    $("join-hint").textContent = "The token was read from the link; it is not kept in this browser's history.";
  } else if (!document.querySelector(".alert")) {
    try { if ((await ask("/status")).ok) location.replace("/"); } catch { /* not joined yet */ }
  }
}
