/* Lets a row fall through a drawn tree. book/figures/following.py prints where each row ends, and its path in words;
   this script makes the list to choose from, and marks the path in the drawing and in the outline. */
(() => {
  "use strict";
  const STEP = 500; // milliseconds from one level to the next
  const SIZE = 9; // radius of the mark of a whole row
  const SVG = "http://www.w3.org/2000/svg";

  function add(parent, tag, properties) {
    return parent.appendChild(Object.assign(document.createElement(tag), properties));
  }

  function draw(parent, tag, attributes, words = "") {
    const shape = parent.appendChild(document.createElementNS(SVG, tag));
    Object.entries(attributes).forEach(([name, value]) => shape.setAttribute(name, value));
    shape.textContent = words;
    return shape;
  }

  function enliven(script) {
    const { parent, rows } = JSON.parse(script.textContent);
    const tree = script.previousElementSibling;
    const svg = tree.querySelector("svg");
    const nodes = [...tree.querySelectorAll("[data-node]")];
    const frames = new Map(
      [...svg.querySelectorAll("[data-node]")]
        .filter((part) => part.firstElementChild.localName === "rect")
        .map((card) => [Number(card.dataset.node), card.firstElementChild]),
    );

    const fromRoot = (node) => (node < 0 ? [] : [...fromRoot(parent[node]), node]);

    // The mark sits in the upper right corner of a card.
    function place(node) {
      const [x, y, width] = ["x", "y", "width"].map((name) => Number(frames.get(node).getAttribute(name)));
      return { transform: `translate(${x + width - SIZE + 1}px, ${y + SIZE - 1}px)`, easing: "ease-in-out" };
    }

    // One mark for each part of the row; together they have the area of the whole.
    function drop(name, path, share) {
      const mark = draw(svg, "g", { class: "row-mark", "aria-hidden": "true" });
      draw(mark, "circle", { r: Math.max(3, SIZE * Math.sqrt(share)) });
      if (share === 1 && name.length < 3) draw(mark, "text", { y: 4, "font-size": 11 }, name);
      mark.style.transform = place(path.at(-1)).transform;
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
        mark.animate(path.map(place), STEP * (path.length - 1));
      }
    }

    function follow(row) {
      svg.querySelectorAll(".row-mark").forEach((mark) => mark.remove());
      const [name, ends, words] = row ?? ["", {}, ""];
      const paths = Object.entries(ends).map(([end, share]) => [fromRoot(Number(end)), share]);
      const onPath = new Set(paths.flatMap(([path]) => path));
      said.textContent = words;
      tree.classList.toggle("follows", row !== undefined);
      nodes.forEach((part) => {
        const isPassed = onPath.has(Number(part.dataset.node));
        part.classList.toggle("passed", isPassed);
        if (isPassed && part.localName === "details") part.open = true;
      });
      paths.forEach(([path, share]) => drop(name, path, share));
      // A drawing that is wider than the page scrolls to where the largest part ends.
      if (!paths.length) return;
      const [[...path]] = paths.reduce((one, other) => (other[1] > one[1] ? other : one));
      const card = frames.get(path.at(-1)).getBoundingClientRect();
      const window = tree.getBoundingClientRect();
      tree.scrollLeft += card.left + card.width / 2 - window.left - window.width / 2;
    }

    const controls = document.createElement("div");
    tree.before(controls);
    controls.className = "treekit-follow";
    const label = add(controls, "label", { textContent: "Follow row " });
    const select = add(label, "select", { autocomplete: "off" });
    add(select, "option", { textContent: "none", value: -1 });
    rows.forEach(([name], i) => add(select, "option", { textContent: name, value: i }));
    const said = add(controls, "output");
    said.setAttribute("aria-live", "polite");
    select.addEventListener("change", () => follow(rows[select.value]));
  }

  const start = (box) => box.querySelectorAll("script.treekit-rows").forEach(enliven);
  start(document);
  addEventListener("new-output", ({ detail }) => start(detail)); // of a cell that the reader has run
})();
