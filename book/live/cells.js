/* What the buttons of a cell do: run it after the cells that it needs, stop, edit, and put back what the book has. */
import { createPython, host, listed } from "./python.js";

const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
/* An edit belongs to the code that it changes: where the book's code changes, the edit is dropped. */
const hash = (text) => [...text].reduce((sum, sign) => (Math.imul(sum, 31) + sign.codePointAt(0)) | 0, 7) >>> 0;
const isEdited = (cell) => cell.code !== cell.original;
const numbers = (cells) => cells.map(({ k }) => k + 1).join(", ");

export async function setUp(all, key) {
  const sheet = make("link", { rel: "stylesheet", href: new URL("cells.css", import.meta.url) });
  document.head.append(sheet);
  const cells = all.map((cell, k) =>
    Object.assign(cell, { k, ran: null, own: null, editor: null, isBusy: false, failedLine: 0 }),
  );
  const shown = cells.filter((cell) => cell.pre);
  const edits = keptEdits(key);
  let current = null; // the cell that runs
  const python = createPython({ tell: (words) => current && words && say(current, words) });
  const runs = createRuns(cells, python);

  for (const cell of shown) {
    cell.original = cell.pre.textContent.replace(/\n$/, "");
    cell.markup = cell.pre.innerHTML;
    cell.stored = cell.root.querySelector(".cell_output");
    cell.code = edits.get(hash(cell.original)) ?? cell.original;
    const { button, buttons } = cell;
    Object.assign(buttons, {
      stop: button("Stop", "Stop Python: it starts again, and what it knew is gone", stop),
      all: button("Run to here", "Forget all, and run every cell from the first to this one", () => press(cell, true)),
      book: button("Book's output", "Show the output that the book has", restore),
      reset: button("Reset code", "Put the book's code back", reset),
    });
    cell.status.before(buttons.stop, buttons.all, buttons.book, buttons.reset);
    if (isEdited(cell)) {
      cell.pre.textContent = cell.code;
      say(cell, "Your edit, kept from your last visit.");
    }
    show(cell);
  }
  for (const cell of cells) cell.needs = cell.needs.map((k) => cells[k]);

  function say(cell, ...words) {
    cell.status.replaceChildren(...words);
  }

  function show(cell) {
    const { run, edit, stop, all, reset, book } = cell.buttons;
    stop.hidden = !cell.isBusy;
    run.hidden = edit.hidden = cell.isBusy;
    all.hidden = cell.isBusy || !(cell.own || cell.editor) || cell.k === cell.first || Boolean(cell.kind);
    reset.hidden = cell.isBusy || !isEdited(cell);
    book.hidden = cell.isBusy || !cell.own || !cell.stored;
    cell.root.classList.toggle("live-edited", isEdited(cell));
  }

  // -- the editor ----------------------------------------------------------------------------------------------------

  let paint = null; // makes the markup of code, once the editor is there
  async function edit(cell) {
    if (cell.editor) return close(cell);
    say(cell, "Loading the editor …");
    python.start(); // by the time the code is changed, Python is there
    const { createEditor, highlighted } = await import("./editor.js");
    paint = highlighted;
    say(cell);
    const box = cell.pre.closest(".highlight");
    const place = make("div", { className: "live-editor highlight" });
    place.style.fontSize = getComputedStyle(cell.pre).fontSize;
    box.hidden = true;
    box.after(place);
    cell.editor = createEditor(place, cell.code, {
      label: `Python code, ${cell.name}. Escape leaves the editor, Shift and Enter run the code.`,
      changed: (code) => {
        cell.code = code;
        cell.failedLine = 0;
        keep(cell);
        show(cell);
      },
      run: () => press(cell, false),
      leave: () => close(cell),
    });
    markLine(cell, cell.failedLine);
    name(cell, "Done");
    show(cell);
    cell.editor.focus();
  }

  function name(cell, words) {
    const { edit } = cell.buttons;
    edit.textContent = words;
    edit.setAttribute("aria-label", `${words}, ${cell.name}`);
  }

  function keep(cell) {
    if (!edits.set(hash(cell.original), isEdited(cell) ? cell.code : null)) {
      say(cell, "Your browser keeps this edit only as long as this page is open.");
    }
  }

  function print(cell) {
    if (!isEdited(cell)) cell.pre.innerHTML = cell.markup;
    else if (paint) cell.pre.replaceChildren(paint(cell.code));
    else cell.pre.textContent = cell.code;
  }

  function close(cell) {
    cell.editor.destroy();
    cell.editor = null;
    print(cell);
    cell.pre.closest(".highlight").hidden = false;
    cell.root.querySelector(".live-editor").remove();
    name(cell, "Edit");
    show(cell);
    cell.buttons.edit.focus();
  }

  function reset(cell) {
    if (cell.editor) close(cell);
    cell.code = cell.original;
    keep(cell);
    print(cell);
    say(cell, "The book's code is back.");
    show(cell);
    cell.buttons.run.focus();
  }

  function restore(cell) {
    clear(cell);
    say(cell);
    show(cell);
    cell.buttons.run.focus();
  }

  // -- running -------------------------------------------------------------------------------------------------------

  // One press after the other. A stop also ends those that wait, because the endless cell may stand above them.
  let turn = Promise.resolve();
  let stops = 0;
  function press(cell, wholly) {
    if (cell.isBusy) return;
    const hadFocus = cell.bar.contains(document.activeElement);
    const before = stops;
    cell.isBusy = true;
    show(cell);
    say(cell, "Waiting …");
    if (hadFocus) cell.buttons.stop.focus();
    turn = turn
      .then(() => (before === stops ? runTo(cell, wholly) : say(cell, "Stopped.")))
      .catch((error) => say(cell, error.message))
      .finally(() => {
        const isFocused = cell.bar.contains(document.activeElement);
        cell.isBusy = false;
        current = null;
        show(cell);
        if (isFocused) cell.buttons.run.focus();
      });
  }

  function stop() {
    stops += 1;
    runs.forget();
    python.stop();
  }

  async function runTo(cell, wholly) {
    const begun = performance.now();
    current = cell;
    const steps = runs.plan(cell, wholly);
    for (const [place, step] of steps.entries()) {
      if (python.isReady()) {
        const words = `Running the cells that it needs: ${place + 1} of ${steps.length - 1} …`;
        say(cell, step.cell === cell ? "Running …" : words);
      }
      const isShown = step.cell === cell || (step.cell.pre && isEdited(step.cell));
      const output = isShown ? open(step.cell) : null;
      const done = await runs.run(step, (kind, text) => {
        if (output) write(output, kind, text);
        if (step.cell === cell && python.isReady()) say(cell, "Running …");
      });
      if (!done) return stopped(cell, step.cell);
      if (done.missing?.length) return missing(cell, step.cell, done.missing);
      if (done.error) return failed(cell, step.cell, done);
      markLine(step.cell, 0);
      if (output) finish(step.cell);
      if (isShown && step.cell !== cell) say(step.cell, `Ran again before ${cell.name}.`);
    }
    await compare(cell);
    const above = steps.slice(0, -1).map((step) => step.cell);
    const after = above.length ? `, after what it needs: ${above.length > 1 ? "cells" : "cell"} ${numbers(above)}` : "";
    say(cell, `Done in ${((performance.now() - begun) / 1000).toFixed(1)} s${after}.`);
  }

  function stopped(cell, last) {
    if (last.own?.children.length === 1) clear(last);
    say(cell, "Stopped. Python starts again: what it knew is gone.");
  }

  // "This cell" or "This cell builds on cell 3, which", with a link that opens the folds around it.
  function subject(cell, last) {
    return last === cell ? ["This cell "] : ["This cell builds on ", link(last), ", which "];
  }

  function missing(cell, last, packages) {
    if (last.own?.children.length <= 1) clear(last);
    const known = packages.some((name) => /^[a-z-]+$/.test(name)) && listed(packages);
    const ways = document.querySelector('.dropdown-launch-buttons a[href*="//mybinder.org/"]')
      ? "Open the chapter on Binder or Colab (the rocket at the top), or download it (the arrow)"
      : "Download the chapter (the arrow at the top)";
    const why = `needs ${known}, which could not be loaded from ${host}. ${ways} and run it on your own machine.`;
    say(cell, ...subject(cell, last), why);
  }

  function failed(cell, last, { error, line, says }) {
    const output = last.own ?? (last.pre ? open(last) : null);
    if (output) {
      write(output, says ? "text" : "error", error);
      output.classList.add(says ? "live-differs" : "live-failed");
      finish(last);
    }
    if (says) return say(cell, "Not yet.");
    markLine(last, line);
    const where = line ? `, line ${line}.` : ".";
    if (last === cell) say(cell, `Failed${where}`);
    else say(cell, "A cell above failed: ", link(last), where);
  }

  function link(cell) {
    const reveal = (event) => {
      event.preventDefault();
      for (let fold = cell.pre.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      cell.root.scrollIntoView({ block: "center" });
      cell.buttons.run.focus({ preventScroll: true });
    };
    return cell.pre ? make("a", { href: "#", textContent: cell.name, onclick: reveal }) : cell.name;
  }

  return { run: (cell) => press(cell, false), edit };
}

/* The reader's edits of a page, in this browser: by the hash of the book's code. If a browser refuses to store them, they
   last as long as the page. */
function keptEdits(key) {
  let edits = {};
  try {
    edits = JSON.parse(localStorage.getItem(key)) ?? {};
  } catch {}
  return {
    get: (name) => edits[name],
    set(name, code) {
      if (code === null) delete edits[name];
      else edits[name] = code;
      try {
        if (Object.keys(edits).length) localStorage.setItem(key, JSON.stringify(edits));
        else localStorage.removeItem(key);
        return true;
      } catch {
        return false;
      }
    },
  };
}

/* What has run in this Python, and what is to run before a cell. Cells run in the page's order: if they would not, or if a
   cell that has run was changed since, Python forgets all names and begins again with what the cell needs. */
function createRuns(cells, python) {
  let broken = null; // the cell that failed last, because it has run in part
  const forget = () => {
    for (const cell of cells) cell.ran = null;
    broken = null;
  };

  function plan(cell, wholly) {
    const above = cells.slice(cell.first, cell.k).filter(({ pre }) => pre);
    const isOpen = wholly || (!cell.kind && [...above, cell].some(isEdited)); // nobody knows what changed code needs
    const needed = isOpen ? above : cell.needs.filter(({ pre }) => pre);
    const ran = cells.filter((other) => other.ran !== null);
    const last = Math.max(-1, ...ran.map(({ k }) => k));
    const isRepeated = broken === cell || (cell.ran !== null && last === cell.k);
    const isStale =
      ran.some((other) => other !== cell && other.ran !== other.code) ||
      needed.some((other) => other.ran === null && other.k < last) ||
      last > cell.k ||
      ran.some((other) => other.k < cell.first) ||
      (broken && broken !== cell) ||
      (isRepeated && cell.changes);
    const isAnew = wholly || isStale || (!ran.length && !broken);
    if (isAnew) forget();
    const steps = [...needed.filter((other) => other.ran === null), cell].map((step) => ({ cell: step, mode: "" }));
    if (isAnew) steps[0].mode = "fresh";
    else if (isRepeated) steps.at(-1).mode = "again";
    return steps;
  }

  async function run({ cell, mode }, write) {
    const { code } = cell;
    const done = await python.run(code, { name: cell.name, mode, write });
    if (!done || (done.missing?.length && !done.error)) return done; // it has not begun
    cell.changes = done.changes;
    cell.ran = done.error ? null : code;
    broken = done.error ? cell : null;
    return done;
  }

  return { plan, run, forget };
}

// -- output ------------------------------------------------------------------------------------------------------------

/* The reader's own output has a box of its own in place of the stored output, which is only hidden. */
function open(cell) {
  cell.own?.remove();
  cell.own = make("div", { className: "cell_output live-output" }, make("p", { className: "live-label", textContent: "Your run" }));
  const fold = cell.bar.closest("details.fold-code");
  const isFoldedAlone = fold?.parentElement === cell.root;
  (cell.stored ?? (isFoldedAlone ? fold : cell.pre.closest(".cell_input"))).after(cell.own);
  if (cell.stored) cell.stored.hidden = true;
  return cell.own;
}

function clear(cell) {
  cell.own?.remove();
  cell.own = null;
  if (cell.stored) cell.stored.hidden = false;
  markLine(cell, 0);
}

/* Drawings are shown as images, so that a style in one cannot reach the page. */
function picture(drawing) {
  const address = URL.createObjectURL(new Blob([drawing], { type: "image/svg+xml" }));
  return make("img", { src: address, alt: "What your run has drawn" });
}

function write(box, kind, text) {
  if (kind === "html") return box.append(make("div", { className: "output text_html", innerHTML: text }));
  if (kind === "svg") {
    const image = picture(text);
    image.drawing = text;
    return box.append(make("div", { className: "output image_svg" }, image));
  }
  if (box.lastElementChild.kind !== kind) {
    const pre = make("pre", { className: `live-${kind}` });
    box.append(make("div", { className: "output highlight", kind }, pre));
  }
  box.lastElementChild.firstElementChild.append(text);
}

/* Moving figures start, and what scrolls becomes a stop of the tab key. */
function finish(cell) {
  dispatchEvent(new CustomEvent("new-output", { detail: cell.own }));
  for (const box of cell.own.querySelectorAll(".output, pre")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  }
}

/* Marks the line in which the code failed; 0 takes the mark away. */
function markLine(cell, line) {
  if (!cell.pre) return;
  cell.failedLine = line;
  cell.editor?.mark(line);
  for (const mark of cell.pre.querySelectorAll(".live-line")) mark.remove();
  if (!line || cell.editor) return;
  const { lineHeight, paddingTop } = getComputedStyle(cell.pre);
  const mark = make("span", { className: "live-line" });
  mark.style.top = `calc(${line - 1} * ${lineHeight} + ${paddingTop})`;
  mark.style.height = lineHeight;
  cell.pre.append(mark);
}

/* What an output says, without white space: text, tables, the states of figures, the drawing of a picture. */
async function content(box) {
  const parts = [...box.querySelectorAll("pre, .text_html, img")].filter((e) => !e.parentElement.closest("pre, .text_html"));
  const texts = parts.map(async (part) => {
    if (part.tagName === "IMG") return part.drawing ?? (await fetch(part.src)).text();
    return part.querySelector("figure.explorable > script")?.textContent ?? part.textContent;
  });
  return (await Promise.all(texts)).join("").replace(/\s+/g, "");
}

async function compare(cell) {
  const label = cell.own.firstElementChild;
  const own = await content(cell.own);
  const isSame = own === (cell.stored ? await content(cell.stored) : "");
  cell.own.classList.toggle("live-differs", !isSame);
  if (cell.kind) label.textContent = "Your run";
  else if (!cell.stored) label.textContent = own ? "Your run: the book shows no output here" : "Your run: no output, as in the book";
  else label.textContent = isSame ? "Your run: as in the book" : "Your run: differs from the book";
}
