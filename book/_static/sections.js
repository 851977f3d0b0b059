/* Sections far down the page are not laid out before the page is alive (book.css). Then they are: links and the scroll
   bar need their true heights. Until the reader moves, the place that the address names stays in view. */
(() => {
  "use strict";
  let hasMoved = false;
  for (const way of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(way, () => (hasMoved = true), { once: true, passive: true });
  }

  // What scrolls is a stop of the tab key. All sizes are read before anything is written: else the page would be laid out
  // anew for each.
  const scrollers = "pre, .cell_output > .output, .pst-scrollable-table-container";
  const sizes = new ResizeObserver((changes) => {
    const boxes = [...new Set(changes.map(({ target }) => target.closest(scrollers)))].filter(Boolean);
    const scrolls = boxes.map((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight);
    boxes.forEach((e, k) => (e.tabIndex = scrolls[k] ? 0 : -1));
  });

  const layOut = () => {
    document.documentElement.classList.add("all-sections");
    const [name] = location.hash.slice(1).split("?"); // the state of a figure may follow
    const target = document.getElementById(decodeURIComponent(name));
    if (target && !hasMoved) target.scrollIntoView({ behavior: "instant" });
    for (const box of document.querySelectorAll(scrollers)) [box, ...box.children].forEach((e) => sizes.observe(e));
  };
  addEventListener("load", () => setTimeout(layOut, 500));
})();
