/* Run and Edit on every code cell. This makes the two buttons and no more: what they do is in live/cells.js, which is
   loaded when one of them is pressed, or when the reader has changed a cell on an earlier visit. */
(() => {
  "use strict";
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const RUN = ["Run", "Run this cell, and before it the cells that it needs"];
  const CHECK = ["Check", "Run your answer above, and try it"];
  const cells = [];
  for (const root of document.querySelectorAll("div.cell")) {
    // Numbers of the cells above that it needs, without which it cannot run here; the first cell that belongs to it, where
    // a page holds several notebooks; in an exercise what the cell is for.
    const { needs, first, kind } = root.dataset;
    const pre = needs === undefined ? null : root.querySelector(".cell_input pre");
    const name = `cell ${cells.length + 1}`;
    const cell = { root, pre, name, first: Number(first ?? 0), kind, needs: (needs ?? "").split(" ").filter(Boolean) };
    cells.push(cell);
    if (!pre) continue;
    cell.button = (words, title, pressed) => {
      const button = make("button", { type: "button", textContent: words, title });
      button.setAttribute("aria-label", `${words}, ${cell.name}`); // begins with what is seen
      button.addEventListener("click", () => pressed(cell));
      return button;
    };
    cell.status = make("span", { className: "live-status" });
    cell.status.setAttribute("role", "status");
    cell.buttons = {
      run: cell.button(...(kind === "check" ? CHECK : RUN), () => load().then(({ run }) => run(cell), failed(cell))),
      edit: cell.button("Edit", "Change the code", () => load().then(({ edit }) => edit(cell), failed(cell))),
    };
    cell.bar = make("div", { className: "live-bar" }, ...Object.values(cell.buttons), cell.status);
    cell.bar.setAttribute("role", "group");
    cell.bar.setAttribute("aria-label", `Python, ${cell.name}`);
    pre.closest(".cell_input").append(cell.bar);
  }
  if (!cells.some(({ pre }) => pre)) return;

  const failed = (cell) => () =>
    (cell.status.textContent =
      location.protocol === "file:"
        ? "Python runs on a page that comes from a server: this one is opened as a file."
        : "What runs Python could not be loaded. Is there a connection?");

  const KEY = `edits:${location.pathname}`;
  let loaded;
  const load = () => {
    const address = new URL(`${document.documentElement.dataset.content_root}_static/live/cells.js`, location);
    loaded ??= import(address).then(({ setUp }) => setUp(cells, KEY));
    loaded.catch(() => (loaded = undefined)); // the next press tries again
    return loaded;
  };
  try {
    if (localStorage.getItem(KEY)) load().catch(() => {});
  } catch {} // a browser that stores nothing has no edits
})();
