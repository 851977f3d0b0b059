/* What a term means, beside its link: where one points at the link, comes to it by key, or taps it; a second tap follows
   it. Without this script the browser shows the same words as the link's title, to a mouse alone. */
(() => {
  "use strict";
  const note = Object.assign(document.createElement("div"), { id: "term-note", className: "term-note", hidden: true });
  note.setAttribute("role", "tooltip");
  let shown = null;

  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    note.hidden = true;
  };
  const show = (link) => {
    hide();
    shown = link;
    note.textContent = link.dataset.means;
    link.setAttribute("aria-describedby", note.id);
    note.hidden = false;
    const [first] = link.getClientRects();
    const left = Math.min(first.left, document.documentElement.clientWidth - note.offsetWidth - 8);
    const above = first.top - note.offsetHeight - 6;
    const top = above > 60 ? above : first.bottom + 6; // the bar at the head of the page
    note.style.translate = `${scrollX + Math.max(left, 8)}px ${scrollY + top}px`;
  };

  for (const link of document.querySelectorAll("a[href*='#term-'][title]")) {
    if (!link.title) continue;
    link.dataset.means = link.title;
    link.removeAttribute("title");
    link.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(link));
    link.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    link.addEventListener("focus", () => link.matches(":focus-visible") && show(link));
    link.addEventListener("blur", hide);
    link.addEventListener("click", (event) => {
      if (event.pointerType !== "touch" || shown === link) return;
      event.preventDefault();
      show(link);
    });
  }
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("pointerdown", (event) => shown && event.target.closest("a") !== shown && hide());
  document.body.append(note);
})();
