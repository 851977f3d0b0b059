/* Moves the figures that treekit/explorable.py prints. Python has drawn every frame; this script makes the controls
   and swaps frames. It is a classic script without dependencies, so that it also runs on a page opened as a file. */
(function () {
  "use strict";

  function add(parent, tag, properties) {
    return parent.appendChild(Object.assign(document.createElement(tag), properties));
  }

  // A slider counts positions; what a position means stands beside it, and is what a screen reader says.
  function addSlider(place, control, name, moved) {
    const label = add(place, "label", { className: "explorable-slider" });
    add(label, "span", { textContent: control.label });
    const value = add(label, "b", {});
    value.setAttribute("aria-hidden", "true"); // else it would be part of the slider's name
    const input = add(label, "input", { type: "range", min: 0, max: control.values.length - 1, autocomplete: "off" });
    const tell = () => {
      value.textContent = control.values[input.value];
      input.setAttribute("aria-valuetext", value.textContent);
    };
    input.value = control.start;
    tell();
    input.addEventListener("input", () => {
      tell();
      moved(Number(input.value));
    });
  }

  // Radio buttons: the browser gives them their keyboard, the style sheet makes them look like buttons.
  function addChoice(place, control, name, moved) {
    const group = add(place, "fieldset", { className: "explorable-choice" });
    add(group, "legend", { textContent: control.label });
    control.values.forEach((word, position) => {
      const label = add(group, "label");
      const checked = position === control.start;
      const input = add(label, "input", { type: "radio", name, checked, autocomplete: "off" });
      add(label, "span", { textContent: word });
      input.addEventListener("change", () => moved(position));
    });
  }

  document.querySelectorAll("figure.explorable").forEach((figure, number) => {
    const { controls, frames } = JSON.parse(figure.querySelector("script").textContent);
    const positions = controls.map((control) => control.start);
    const drawing = figure.querySelector("g.frame");
    const sentence = figure.querySelector("output");

    // The frames are in a row, the last control moving fastest.
    function show() {
      const index = controls.reduce((sum, control, k) => sum * control.values.length + positions[k], 0);
      [drawing.innerHTML, sentence.textContent] = frames[index];
    }

    const place = figure.querySelector(".explorable-controls");
    controls.forEach((control, k) => {
      const make = control.kind === "slider" ? addSlider : addChoice;
      make(place, control, `explorable-${number}-${k}`, (position) => {
        positions[k] = position;
        show();
      });
    });
    figure.querySelector(".explorable-challenge").hidden = false;
  });
})();
