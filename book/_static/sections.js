/* Sections far down the page are not laid out before the page is alive (book.css). Then they are: links and the scroll
   bar need their true heights. Until the reader moves, the place that the address names stays in view. */
(() => {
  "use strict";
  let hasMoved = false;
  for (const way of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(way, () => (hasMoved = true), { once: true, passive: true });
  }

  // The theme makes what scrolls a stop of the tab key, but looks before the fonts have come and into no closed fold.
  const makeReachable = (part) => {
    for (const box of part.querySelectorAll("pre, .pst-scrollable-table-container")) {
      box.tabIndex = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight ? 0 : -1;
    }
  };
  addEventListener("toggle", ({ target }) => makeReachable(target), true);

  const layOut = () => {
    document.documentElement.classList.add("all-sections");
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && !hasMoved) target.scrollIntoView({ behavior: "instant" });
    makeReachable(document);
  };
  addEventListener("load", () => setTimeout(layOut, 500));
})();
