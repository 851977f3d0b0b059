/* Sections far down the page are not laid out before the page is alive (book.css). Then they are: links and the scroll
   bar need their true heights. Until the reader moves, the place that the address names stays in view. */
(() => {
  "use strict";
  let hasMoved = false;
  for (const way of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(way, () => (hasMoved = true), { once: true, passive: true });
  }

  // The theme makes what scrolls a stop of the tab key, but looks before the fonts have come and into no closed fold.
  const scrollers = "pre, .pst-scrollable-table-container";
  const sizes = new ResizeObserver((changes) => {
    for (const { target } of changes) {
      const box = target.closest(scrollers);
      if (box) box.tabIndex = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight ? 0 : -1;
    }
  });

  const layOut = () => {
    document.documentElement.classList.add("all-sections");
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && !hasMoved) target.scrollIntoView({ behavior: "instant" });
    for (const box of document.querySelectorAll(scrollers)) [box, ...box.children].forEach((e) => sizes.observe(e));
  };
  addEventListener("load", () => setTimeout(layOut, 500));
})();
