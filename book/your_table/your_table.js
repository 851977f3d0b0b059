/* The page on which a reader grows a tree of their own table: it shows what Python (page.py, in a worker) answers. The
   table goes from the file to the worker, and nowhere else. */
import { createPython, host, listed } from "./python.js";

const MOST_BYTES = 200_000_000; // more than a browser reads
const PASTED = "table.csv"; // the name of what came without one
const READING = "Reading the table …";
const STOPPED = "Stopped. Change a setting or bring a table, and a tree grows again.";
/* What is fetched for these methods, and what the page calls what they grow. */
const NUMERIC = "from treekit import CARTClassifier, GBDTClassifier, RandomForestClassifier";
const TITLES = { forest: "Your forest", boosting: "Your boosted trees" };
const box = document.getElementById("your-table");
const part = (name) => box.querySelector(`[data-part="${name}"]`);
const form = part("form");
const field = (name) => form.elements[name];

class Refused extends Error {}

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/* While Python loads, the page says so; then its own words are back. A refusal is shown at once. */
const told = { loading: "", words: "", isRefused: false };
function tell(news) {
  Object.assign(told, news);
  part("said").textContent = told.loading || told.words;
  part("said").classList.toggle("refused", told.isRefused && !told.loading);
}
const say = (words, isRefused = false) => tell({ words, isRefused, ...(isRefused && { loading: "" }) });

// -- Python ------------------------------------------------------------------------------------------------------

const python = createPython({
  archives: [new URL("your_table.zip", import.meta.url).href],
  tell: (loading) => tell({ loading }),
});
let source = null; // how the table was taken: the name of a function and its values
let isTaken = false; // whether this Python holds it
let tree = null; // what Python said of the tree that stands on the page

async function call(name, ...values) {
  const answer = await python.call(`your_table.page.${name}`, values);
  if (!answer) throw new Refused(STOPPED);
  if (answer.error) throw new Refused(`Python could not do this: ${answer.error.trim().split("\n").at(-1)}`);
  if (answer.value.refused) throw new Refused(answer.value.refused);
  return answer.value;
}

/* Fetches NumPy and all else that treekit's estimators stand on; Python tells meanwhile what comes, and how much. */
async function fetchNumPy() {
  const answer = await python.load(NUMERIC);
  if (!answer) throw new Refused(STOPPED);
  if (answer.error) throw new Refused(answer.error);
  const what = answer.missing.length && listed(answer.missing);
  if (what) throw new Refused(`This needs ${what}, which could not be loaded from ${host}. ID3, C4.5 and CART grow without.`);
}

/* One thing after the other; the reader reads what Python refuses. Stop also ends what waits. */
let [turn, stops] = [Promise.resolve(), 0];
function doing(words, task) {
  const before = stops;
  turn = turn.then(async () => {
    if (stops > before) return;
    part("stop").hidden = false;
    box.setAttribute("aria-busy", "true");
    say(words);
    try {
      await task();
    } catch (error) {
      if (!(error instanceof Refused)) console.error(error);
      say(error.message, true);
    }
    part("stop").hidden = true;
    box.removeAttribute("aria-busy");
  });
}

// -- the table ---------------------------------------------------------------------------------------------------

function take(name, ...values) {
  source = [name, ...values];
  isTaken = false;
  form.hidden = part("result").hidden = true;
  say(READING);
  field("encoding").disabled = name !== "take" || values[1] === PASTED;
  doing(READING, async () => {
    showTable(await call(...source));
    isTaken = true;
    await grow();
    form.scrollIntoView({ block: "start" });
  });
}

async function takeFile(file) {
  if (file.size > MOST_BYTES) return say("This file is larger than 200 MB: keep 100,000 rows of it, and choose these.", true);
  say(READING);
  field("encoding").value = "";
  take("take", new Uint8Array(await file.arrayBuffer()), file.name, "");
}

const takeText = (text) => text.trim() && take("take", new TextEncoder().encode(text), PASTED, "utf-8");

function showTable({ rows, notes, columns, suggested, is_large }) {
  part("about").textContent = [`${rows.toLocaleString("en")} rows, ${columns.length} columns.`, ...notes].join(" ");
  field("target").replaceChildren(...columns.map(({ name }) => new Option(name)));
  for (const [name, value] of Object.entries({ depth: 4, epsilon: 0, alpha: 0, ...suggested })) field(name).value = value;
  part("columns").replaceChildren(...columns.map(columnRow));
  const large = part("numeric").querySelector("[value=large]");
  large.hidden = large.disabled = !is_large;
  showSettings();
  form.hidden = false;
}

function columnRow({ name, kind, why, n_different, n_gaps, often }) {
  const choice = make("select", { ariaLabel: `${name}: taken for` });
  choice.append(...["number", "category", "left out"].map((value) => new Option(value)));
  choice.value = kind;
  Object.assign(choice.dataset, { column: name, kind });
  const gaps = n_gaps ? `, ${n_gaps.toLocaleString("en")} gaps` : "";
  const holds = `${often.join(", ")}${n_different > often.length ? " …" : ""} (${n_different.toLocaleString("en")} different${gaps})`;
  return make("tr", {}, make("td", {}, name), make("td", {}, choice, why ? ` because ${why}` : ""), make("td", {}, holds));
}

/* Only the settings of the chosen method are shown. */
const groups = box.querySelectorAll("[data-for]");
const isOf = (group) => group.dataset.for.split(" ").includes(field("method").value);
const showSettings = () => groups.forEach((group) => (group.hidden = !isOf(group)));
const parameters = () => [...groups].filter(isOf).flatMap((group) => [...group.querySelectorAll("[data-parameter]")]);

const number = (name, least) => Math.max(least, field(name).valueAsNumber || 0);
const within = ({ min, max, step, valueAsNumber }) => {
  const inside = Math.min(max || Infinity, Math.max(min, valueAsNumber));
  return step === "any" ? inside : Math.round(inside);
};
function settings() {
  const changed = [...part("columns").querySelectorAll("select")].filter((one) => one.value !== one.dataset.kind);
  return {
    target: field("target").value,
    method: field("method").value,
    kinds: Object.fromEntries(changed.map((one) => [one.dataset.column, one.value])),
    parameters: Object.fromEntries(parameters().filter((one) => one.value).map((one) => [one.dataset.parameter, within(one)])),
    depth: Math.round(number("depth", 1)),
    least: number("least", 1),
    epsilon: number("epsilon", 0),
    alpha: number("alpha", 0),
  };
}

async function grow() {
  const lost = tree?.n_changes && !part("result").hidden ? " Your changes to the tree before are gone." : "";
  part("result").hidden = true;
  if (!isTaken) await call(...source);
  isTaken = true;
  const wanted = settings();
  if (field("method").selectedOptions[0].parentElement === part("numeric")) await fetchNumPy();
  say("Growing …");
  show(await call("grow", wanted));
  const what = { forest: "The forest has grown.", boosting: "Boosting is done." }[wanted.method];
  say(`${what ?? "The tree has grown."}${lost}`);
}

// -- the tree ----------------------------------------------------------------------------------------------------

const percent = (share) => `${(100 * share).toFixed(share > 0.995 && share < 1 ? 1 : 0)}\u00a0%`;
const short = (number) => Number(number.toPrecision(3)).toString();

function show(answer) {
  tree = answer;
  part("result").hidden = false;
  part("node").hidden = true;
  part("title").textContent = TITLES[field("method").value] ?? "Your tree";
  const holds = { drawn: Boolean(tree.html), changed: Boolean(tree.followed) };
  for (const one of box.querySelectorAll("[data-only]")) one.hidden = !holds[one.dataset.only];
  part("tree").replaceChildren();
  if (holds.drawn) showTree();
  showScores();
  part("importance").replaceChildren(
    ...tree.importance.map(([name, share]) => {
      const bar = make("i", { style: `width: ${100 * share}%` });
      return make("li", {}, make("span", { textContent: name, title: name }), bar, percent(share));
    }),
  );
  if (!tree.importance.length) part("importance").append(make("li", { textContent: "None: no question is asked." }));
  part("rules").textContent = tree.rules.join("\n");
  part("code").textContent = tree.code;
  part("undo").hidden = !tree.n_changes;
}

function showTree() {
  part("tree").innerHTML = tree.html; // Python has escaped every word of the table
  if (tree.followed) {
    part("tree").append(make("script", { type: "application/json", className: "treekit-rows", textContent: tree.followed }));
    dispatchEvent(new CustomEvent("new-output", { detail: part("tree") })); // rows.js lets rows fall through it
    part("tree").querySelector("svg").setAttribute("role", "group"); // its cards are buttons
  }
  for (const node of part("tree").querySelectorAll("svg [data-node], .outline p[data-node]")) {
    if (node.firstElementChild.localName === "path") continue; // the edge to it
    const words = [...node.querySelectorAll("text")].map((text) => text.textContent).join(", ");
    if (words) node.setAttribute("aria-label", words);
    node.setAttribute("role", "button");
    node.tabIndex = 0;
  }
  const view = part("tree").querySelector(".treekit-tree");
  view.scrollLeft = (view.scrollWidth - view.clientWidth) / 2;
}

function showScores() {
  const [own, guess] = [tree.scores[0], tree.scores.at(-1)]; // a tree that the reader has changed comes first
  const shown = (score) => (score === null ? "–" : tree.is_numbers ? short(score) : percent(score));
  const unseen = tree.n_held ? `${tree.n_held} rows that it has not seen` : `the ${tree.n_grown} rows, each left out once`;
  const [judged, rows] = own.new === null ? ["grown", `the ${tree.n_grown} rows it grew from`] : ["new", unseen];
  const name = own.name.replace(/^./, (letter) => letter.toUpperCase());
  const verb = tree.is_numbers ? "off by" : "right on";
  const [ours, theirs] = [own, guess].map((one) => shown(one[judged]));
  const of = tree.is_numbers ? "on average, on" : "of";
  part("headline").textContent = `${name} is ${verb} ${ours} ${of} ${rows}; ${guess.name} is ${verb} ${theirs}.`;
  const what = tree.is_numbers ? "Off by, on average" : "Right";
  const judging = tree.n_held ? `${tree.n_held} rows held out` : "each row left out once";
  const head = [tree.html ? "Tree" : "Model", "Leaves", `${what}: the ${tree.n_grown} rows it grew from`, `${what}: ${judging}`];
  const cells = (kind, words) => make("tr", {}, ...words.map((word) => make(kind, { textContent: word })));
  part("scores").replaceChildren(
    make("thead", {}, cells("th", head)),
    make("tbody", {}, ...tree.scores.map((one) => cells("td", [one.name, one.leaves, shown(one.grown), shown(one.new)]))),
  );
  const hidden = tree.n_hidden ? ` The drawing leaves out ${tree.n_hidden} deeper nodes; the rules name them all.` : "";
  const drawn = "Three rows in ten, always the same ones, were held out before anything grew (by Python’s Random(0)).";
  const each = `With fewer than ${tree.held_from} rows none is held out: each was predicted by what had grown without it.`;
  part("told").textContent = (tree.n_held ? drawn : each) + hidden;
}

function button(words, worth, properties, pressed) {
  return make("button", { type: "button", onclick: pressed, ...properties }, words, make("span", { textContent: worth }));
}

function choose(k) {
  doing("Asking …", async () => {
    const about = await call("offers", k);
    for (const node of part("tree").querySelectorAll("[data-node]")) {
      const isChosen = Number(node.dataset.node) === k;
      if (node.getAttribute("role")) node.setAttribute("aria-pressed", isChosen);
      node.classList.toggle("chosen", isChosen);
    }
    const place = `${about.where ? `Where ${about.where}` : "At the root"}: ${about.rows} rows`;
    const lines = [make("p", {}, make("strong", { textContent: place }))];
    if (!about.offers.length) lines.push(make("p", { textContent: "No question divides these rows any further." }));
    about.offers.forEach(({ words, gain, ratio, now }, j) => {
      const worth = ratio === null ? `gain ${short(gain)}` : `gain ${short(gain)}, ratio ${short(ratio)}`;
      lines.push(button(words, worth, { ariaPressed: now }, () => change("ask", k, j)));
    });
    if (!about.is_leaf) lines.push(button("Cut here", `leaf: ${about.leaf}`, { className: "cut" }, () => change("cut", k)));
    part("node").replaceChildren(...lines);
    part("node").hidden = false;
    part("node").focus({ preventScroll: true });
    part("node").scrollIntoView({ block: "nearest" });
    say("");
  });
}

function change(what, ...values) {
  doing("Growing the tree …", async () => {
    show(await call(what, ...values));
    say(what === "undo" ? "Your last change is undone." : "The tree is changed; below it stands beside the algorithm’s own.");
    const nodes = [...part("tree").querySelectorAll(`[data-node="${values[0] ?? 0}"]`)];
    nodes.find((node) => node.getAttribute("role") && node.checkVisibility())?.focus();
  });
}

function pressed(event) {
  const node = event.target.closest("[data-node]");
  if (!node || (event.type === "keydown" && !["Enter", " "].includes(event.key))) return;
  event.preventDefault(); // of a summary, too, which would fold the branch
  choose(Number(node.dataset.node));
}

function save(name, text, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(tree.code);
    say("The code is copied.");
  } catch {
    getSelection().selectAllChildren(part("code"));
    say("Your browser does not let the page copy: the code is selected, copy it yourself.");
  }
}

// -- the reader --------------------------------------------------------------------------------------------------
part("file").addEventListener("change", ({ target }) => target.files[0] && takeFile(target.files[0]));
part("pasted").addEventListener("input", ({ target }) => takeText(target.value));
box.querySelectorAll("[data-book]").forEach((button) => {
  button.addEventListener("click", () => take("take_of_the_book", button.dataset.book));
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  part("drop").addEventListener(kind, (event) => {
    event.preventDefault();
    part("drop").classList.toggle("over", kind === "dragover");
    if (kind !== "drop") return;
    const [file] = event.dataTransfer.files;
    file ? takeFile(file) : takeText(event.dataTransfer.getData("text"));
  });
}
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", ({ target }) => {
  showSettings();
  if (target.name !== "encoding") return doing("Growing …", grow);
  take("take", source[1], source[2], target.value);
});
part("tree").addEventListener("click", pressed);
part("tree").addEventListener("keydown", pressed);
part("undo").addEventListener("click", () => change("undo"));
part("save-svg").addEventListener("click", () => save("tree.svg", tree.svg, "image/svg+xml"));
part("save-table").addEventListener("click", () => doing("Writing the table …", async () => {
  const { name, text } = await call("table");
  save(name, text, "text/csv");
  say(`Saved as ${name}.`);
}));
part("copy").addEventListener("click", copy);
part("stop").addEventListener("click", () => {
  stops += 1;
  isTaken = false; // the tree is gone with it
  part("result").hidden = true;
  python.stop();
});
// Python is fetched when somebody turns to the form, not before.
for (const kind of ["pointerover", "focusin", "dragenter"]) {
  box.addEventListener(kind, () => python.start(), { once: true });
}
part("numeric").label = `fetches NumPy from ${host}`;
part("all").hidden = false;
say("Choose a table, and the tree grows at once.");
