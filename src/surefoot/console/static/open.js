// The local page. Whatever comes from a file or a server is set as text, never as markup.
const at = (id) => document.getElementById(id);
let held = [];

async function asked(path, body) {
  const answer = await fetch(path, { method: "POST", body });
  const told = await answer.json().catch(() => ({ error: `The page's server answered ${answer.status}.` }));
  if (!answer.ok) throw new Error(told.error || told.message || `The page's server answered ${answer.status}.`);
  return told;
}

function say(text, bad = false) {
  at("state").textContent = text;
  at("state").classList.toggle("bad", bad);
}

function show(token, says = "", notes = []) {
  at("result").hidden = false;
  at("says").textContent = says;
  at("notes").replaceChildren(...notes.map((note) => Object.assign(document.createElement("li"), { textContent: note })));
  at("page").src = `/reports/${token}`;
  at("whole").href = `/reports/${token}`;
  at("download").href = `/reports/${token}?download`;
}

async function make() {
  if (!held.length) return;
  say("Computing ...");
  try {
    const told = await asked("/reports", JSON.stringify({ files: held, confidence: Number(at("confidence").value) }));
    show(told.report, told.says, told.notes);
    say("");
  } catch (error) {
    say(error.message, true);
  }
}

async function take(files) {
  if (!files.length) return;
  say(`Reading ${[...files].map((file) => file.name).join(", ")} ...`);
  try {
    held = [];
    for (const file of files) held.push((await asked(`/files?name=${encodeURIComponent(file.name)}`, file)).file);
    await make();
  } catch (error) {
    say(error.message, true);
  }
}

const drop = at("drop");
for (const name of ["dragenter", "dragover"]) document.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const name of ["dragleave", "drop"]) document.addEventListener(name, (event) => { event.preventDefault(); drop.classList.remove("over"); });
document.addEventListener("drop", (event) => take(event.dataTransfer.files));
at("files").addEventListener("change", (event) => take(event.target.files));
at("confidence").addEventListener("change", make);

for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const output = form.querySelector("output");
    const said = { ...Object.fromEntries(new FormData(form)), confidence: Number(at("confidence").value) };
    try {
      output.textContent = (await asked(form.dataset.path, JSON.stringify(said))).says;
      output.classList.remove("bad");
    } catch (error) {
      output.textContent = error.message;
      output.classList.add("bad");
    }
  });
}

if (document.body.dataset.report) show(document.body.dataset.report);
