/* Sections far down the page are not laid out before the page is alive (book.css). Then they are: links and the scroll
   bar need their true heights. Until the reader moves, the place that the address names stays in view. */
(() => {
  "use strict";
  const root = document.documentElement;
  let hasMoved = false;
  for (const way of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(way, () => (hasMoved = true), { once: true, passive: true });
  }
  const layOut = () => {
    root.classList.add("all-sections");
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && !hasMoved) target.scrollIntoView({ behavior: "instant" });
  };
  addEventListener("load", () => setTimeout(layOut, 500));

  // The theme makes what scrolls a stop of the tab key. What stood in a closed fold had no width then.
  const reachable = ({ target }) => {
    for (const box of target.querySelectorAll("pre, .pst-scrollable-table-container")) {
      box.tabIndex = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight ? 0 : -1;
    }
  };
  addEventListener("toggle", reachable, true);
})();
