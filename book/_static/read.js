/* A tick in the list of contents at each chapter whose end the reader has reached, kept in this browser. The box at the
   end of a chapter sets it and takes it back. */
(() => {
  "use strict";
  const KEY = "chapters-read";
  const article = document.querySelector("article.bd-article");
  const path = (href) => new URL(href).pathname;

  /* A browser may refuse to store. Then the ticks live as long as the page. */
  let read = [];
  try {
    read = JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {}

  const names = document.querySelectorAll("nav.bd-links li.toctree-l1 > a, .chapter-cards a > span");
  const TICK = '<span class="read-mark"> ✓<span class="visually-hidden"> read</span></span>';
  const draw = () => {
    for (const name of names) {
      name.querySelector(".read-mark")?.remove();
      if (read.includes(path(name.closest("a").href))) name.insertAdjacentHTML("beforeend", TICK);
    }
  };
  const mark = (isRead) => {
    read = read.filter((one) => one !== location.pathname).concat(isRead ? location.pathname : []);
    try {
      localStorage.setItem(KEY, JSON.stringify(read));
    } catch {}
    draw();
  };

  draw();
  if (!document.querySelector(".check")) return; // only chapters have checks
  const box = Object.assign(document.createElement("input"), { type: "checkbox", id: "was-read" });
  const label = Object.assign(document.createElement("label"), { className: "was-read-box", htmlFor: box.id });
  label.append(box, " I have read this chapter");
  box.checked = read.includes(location.pathname);
  box.addEventListener("change", () => mark(box.checked));
  article.append(label);
  if (box.checked) return;
  new IntersectionObserver(([seen], observer) => {
    if (!seen.isIntersecting) return;
    observer.disconnect();
    mark((box.checked = true));
  }).observe(label);
})();
