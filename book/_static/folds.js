/* What browsers leave undone for folds: a link to a fold opens it, and so do the search and the printer. */
(() => {
  "use strict";

  /* Open every fold that holds the element, and the fold that it is, and bring it into view. */
  const unfold = (element) => {
    const isHidden = element.closest("details:not([open])");
    for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (isHidden) element.scrollIntoView();
  };

  const follow = (hash) => {
    const target = document.getElementById(decodeURIComponent(hash.slice(1)));
    if (target) unfold(target);
  };
  addEventListener("hashchange", () => follow(location.hash));
  addEventListener("DOMContentLoaded", () => follow(location.hash));
  // Followed a second time, a link leaves the address as it is.
  addEventListener("click", ({ target }) => {
    const link = target.closest?.("a[href]");
    if (link?.hash && link.href === location.href) follow(link.hash);
  });

  // On the page that a search leads to, Sphinx marks the words. If only folds hold them, the first of these folds opens.
  addEventListener("load", () => {
    setTimeout(() => {
      const words = [...document.querySelectorAll("article .highlighted:not(.check-reply *)")];
      if (words.length && words.every((word) => word.closest("details:not([open])"))) unfold(words[0]);
    }, 50);
  });

  const closed = new Set();
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details.fold:not([open])")) closed.add(fold), (fold.open = true);
  });
  addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
    closed.clear();
  });
})();
