// The editor of a plan: a form made from the fields that the server names. Whatever comes from it is set as text.
const at = (id) => document.getElementById(id);
const make = (tag, fields = {}, ...inside) => {
  const found = Object.assign(document.createElement(tag), fields);
  found.append(...inside);
  return found;
};
let waiting = 0;
let turn = 0;

async function asked(path, body) {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body) });
  const told = await answer.json().catch(() => ({ error: `The page's server answered ${answer.status}.` }));
  if (!answer.ok) throw new Error(told.error || told.message || `The page's server answered ${answer.status}.`);
  return told;
}

function field(one, value) {
  const input = one.options.length || one.flag ? make("select") : make("input");
  for (const option of one.flag ? ["", "yes", "no"] : one.options.length ? ["", ...one.options] : []) {
    input.append(make("option", { value: option, textContent: option || "as it fits" }));
  }
  input.name = one.name;
  input.value = value || "";
  return make("label", {}, one.name.replaceAll("_", " "), input, make("small", { textContent: one.help }));
}

function table(part, values) {
  const box = make("fieldset", {}, make("legend", { textContent: part.name ? part.name.replaceAll("_", " ") : part.about }));
  box.dataset.part = part.name;
  const [first, ...rest] = part.fields;
  const more = make("details", {}, make("summary", { textContent: values.name ? "More of it" : "More fields" }));
  more.append(...rest.map((one) => field(one, values[one.name])));
  more.open = part.name === "time_budget" || rest.some((one) => values[one.name]);
  box.append(field(first, values[first.name]), more);
  if (part.many) {
    const drop = make("button", { type: "button", textContent: "Remove" });
    drop.addEventListener("click", () => { box.remove(); later(); });
    box.append(drop);
  }
  return box;
}

function values() {
  const found = { "": {}, time_budget: [], policies: [], tasks: [] };
  for (const box of at("form").querySelectorAll("fieldset")) {
    const told = Object.fromEntries([...box.querySelectorAll("input, select")].map((one) => [one.name, one.value]));
    if (box.dataset.part) found[box.dataset.part].push(told); else found[""] = told;
  }
  return found;
}

async function check() {
  const mine = ++turn;
  at("state").classList.remove("bad");
  at("state").textContent = "Computing ...";
  try {
    const told = await asked("/check", { values: values(), rates: at("rates").value });
    if (mine !== turn) return;
    for (const name of ["says", "expects", "toml"]) at(name).textContent = told[name];
    at("expects").classList.toggle("table", !at("rates").value.trim());
    at("state").textContent = "";
    at("save").disabled = false;
  } catch (error) {
    if (mine !== turn) return;
    at("state").textContent = error.message;
    at("state").classList.add("bad");
    at("expects").textContent = "";
    at("save").disabled = true;
  }
}

function later() {
  clearTimeout(waiting);
  at("saved").textContent = "";
  waiting = setTimeout(check, 500);
}

async function begin() {
  const { parts, values: known } = await asked("/form", {});
  for (const part of parts) {
    const group = make("div");
    const shown = part.name ? known[part.name] : [known[""]];
    group.append(...shown.map((one) => table(part, one)));
    at("form").append(group);
    if (part.many) {
      const add = make("button", { type: "button", textContent: `Add one of ${part.name}` });
      add.addEventListener("click", () => { group.append(table(part, {})); later(); });
      at("form").append(add);
    }
  }
  at("form").addEventListener("input", later);
  at("rates").addEventListener("input", later);
  at("form").addEventListener("submit", (event) => event.preventDefault());
  at("save").addEventListener("click", async () => {
    try { at("saved").textContent = (await asked("/save", { values: values() })).says; } catch (error) { at("saved").textContent = error.message; }
  });
  await check();
}

begin().catch((error) => { at("state").textContent = error.message; });
