/* Moves the figures that book/figures/explorable.py prints. Python has drawn every frame; this script makes the
   controls, swaps frames, and sends each mark to its place, where the style sheet lets it travel. It is a classic
   script without dependencies, so that it also runs on a page opened as a file. */
(function () {
  "use strict";
  const BEAT = 1100; // milliseconds from frame to frame while a slider plays

  function add(parent, tag, properties) {
    return parent.appendChild(Object.assign(document.createElement(tag), properties));
  }

  function addButton(parent, text, label, pressed) {
    const button = add(parent, "button", { type: "button", textContent: text });
    button.setAttribute("aria-label", label);
    button.addEventListener("click", pressed);
    return button;
  }

  // Every control is made by a function that calls `moved(position, settled)` when the reader has moved it (settled:
  // has let go), and returns a function that moves it from outside.

  // A slider counts positions; what a position means stands beside it, and is what a screen reader says.
  function addSlider(place, control, name, moved) {
    const box = add(place, "div", { className: "explorable-slider" });
    add(box, "label", { htmlFor: name, textContent: control.label });
    const value = add(box, "b");
    value.setAttribute("aria-hidden", "true"); // the slider says it
    const last = control.values.length - 1;
    const input = add(box, "input", { type: "range", id: name, min: 0, max: last, autocomplete: "off" });
    const set = (position) => {
      input.value = position;
      value.textContent = control.values[input.value];
      input.setAttribute("aria-valuetext", value.textContent);
    };
    set(control.opens);
    input.addEventListener("input", () => {
      set(input.value);
      moved(Number(input.value), false);
    });
    input.addEventListener("change", () => moved(Number(input.value), true));
    return { set, box, at: () => Number(input.value), last };
  }

  // Radio buttons: the browser gives them their keyboard, the style sheet makes them look like buttons.
  function addChoice(place, control, name, moved) {
    const group = add(place, "fieldset", { className: "explorable-choice" });
    add(group, "legend", { textContent: control.label });
    const inputs = control.values.map((word, position) => {
      const label = add(group, "label");
      const checked = position === control.opens;
      const input = add(label, "input", { type: "radio", name, checked, autocomplete: "off", required: true });
      add(label, "span", { textContent: word });
      input.addEventListener("change", () => moved(position, true));
      return input;
    });
    return { set: (position) => (inputs[position].checked = true) };
  }

  const makers = { slider: addSlider, choice: addChoice };

  // One step back, play or pause, one step on. Playing stops at the end, and begins again from there.
  // `go(position, byHand)` moves the slider and the figure.
  function addPlayer(slider, name, go) {
    let timer = 0;
    const tell = (word) => {
      player.textContent = word;
      player.setAttribute("aria-label", `${word}: ${name}`);
    };
    const stop = () => {
      clearInterval(timer);
      timer = 0;
      tell("Play");
    };
    const step = (by, byHand) => go(Math.min(slider.last, Math.max(0, slider.at() + by)), byHand);
    const buttons = document.createElement("div");
    slider.box.insertBefore(buttons, slider.box.lastChild).className = "explorable-player";
    addButton(buttons, "‹", `One step back: ${name}`, () => step(-1, true));
    const player = addButton(buttons, "Play", `Play: ${name}`, () => {
      if (timer) return stop();
      timer = setInterval(() => {
        if (slider.at() + 1 >= slider.last) stop();
        step(1, false);
      }, BEAT);
      tell("Pause");
      step(slider.at() === slider.last ? -slider.last : 1, false);
    });
    addButton(buttons, "›", `One step on: ${name}`, () => step(1, true));
    return { stop, plays: () => timer > 0 };
  }

  function put(mark, place) {
    mark.style.opacity = place ? place[4] ?? 1 : 0;
    if (!place) return;
    const [x, y, width = 1, height = width] = place;
    mark.style.transform = `translate(${x}px,${y}px) scale(${width},${height})`;
  }

  // What a guess is worth, where its answer is known.
  function verdict({ kind, values, answer }, guessed) {
    const said = `Your guess: ${values[guessed]}`;
    if (answer === undefined) return `${said}.`;
    if (guessed === answer) return `${said}. That is right.`;
    const side = kind === "choice" ? "" : guessed < answer ? ", too low" : ", too high";
    return `${said}${side}. It is ${values[answer]}.`;
  }

  // The position whose point is nearest to the pointer, in the pixels of the drawing.
  function nearest(points, svg, event) {
    const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const far = points.map(([x, y]) => Math.hypot(spot.x - x, spot.y - y));
    return far.indexOf(Math.min(...far));
  }

  const figures = document.querySelectorAll("figure.explorable");
  figures.forEach((figure, number) => {
    const { controls, guess, parts, frames, stagger } = JSON.parse(figure.querySelector("script").textContent);
    const positions = controls.map((control) => control.opens);
    const panels = [...figure.querySelectorAll(".explorable-panels > svg")];
    for (const svg of stagger ? panels : []) {
      svg.querySelectorAll(".traveller").forEach((mark, i) => mark.style.setProperty("--after", `${i * stagger}ms`));
    }
    const sentence = figure.querySelector("output");
    const place = figure.querySelector(".explorable-controls");
    const challenge = figure.querySelector(".explorable-challenge");
    const found = add(challenge.parentNode, "span", { className: "explorable-found" });
    found.setAttribute("role", "status");

    // The frames are in a row, the last control moving fastest.
    function show(where) {
      const index = controls.reduce((sum, control, k) => sum * control.values.length + where[k], 0);
      const [words, isFound, ...scenes] = frames[index];
      sentence.textContent = words;
      scenes.forEach(([drawing, places], k) => {
        panels[k].querySelector(".frame").innerHTML = drawing.map((part) => parts[part]).join("");
        panels[k].querySelectorAll(".traveller").forEach((mark, i) => put(mark, places[i]));
      });
      return isFound;
    }

    // Only what the reader has moved, and let go, can meet the challenge: playing finds nothing. What was found stays
    // found, and the words tell whether the figure shows it now.
    let hasFound = false;
    function go(k, position, byHand, settled) {
      if (byHand) players.forEach((player) => player.stop());
      positions[k] = position;
      made[k].set(position);
      // A screen reader waits until a slider that plays has stopped.
      sentence.setAttribute("aria-live", players.some((player) => player.plays()) ? "off" : "polite");
      const isFound = show(positions);
      hasFound ||= isFound && settled;
      found.textContent = !hasFound ? "" : isFound ? "✓ Found." : "✓ Found before.";
    }

    const board = add(place, "div", { className: "explorable-board" });
    const made = controls.map((control, k) =>
      makers[control.kind](board, control, `explorable-${number}-${k}`, (at, settled) => go(k, at, true, settled)),
    );
    const sliders = controls.map((_, k) => k).filter((k) => controls[k].kind === "slider");
    if (sliders.length > 1) board.classList.add("pair");
    const players = sliders.map((k) =>
      addPlayer(made[k], controls[k].label, (at, byHand) => go(k, at, byHand, byHand)),
    );

    // The thing itself: tap what chooses a value; in the first panel, drag or tap where a slider has points.
    const dragged = sliders.filter((k) => controls[k].points);
    const drag = (event, settled) =>
      dragged.forEach((k) => go(k, nearest(controls[k].points, panels[0], event), true, settled));
    panels.forEach((svg) =>
      svg.addEventListener("click", (event) => {
        if (board.hidden) return;
        const value = event.target.closest("[data-choose]")?.dataset.choose;
        const k = controls.findIndex((control) => control.values.includes(value));
        if (k >= 0) go(k, controls[k].values.indexOf(value), true, true);
        else if (svg === panels[0]) drag(event, true);
      }),
    );
    if (dragged.length) {
      const upright = dragged.every((k) => controls[k].points.every(([x]) => x === controls[k].points[0][0]));
      // A finger in the other direction scrolls the page, unless each direction moves a slider.
      panels[0].classList.add(dragged.length > 1 ? "drag-both" : upright ? "drag-y" : "drag-x");
      panels[0].addEventListener("pointerdown", (event) => {
        if (!event.target.closest("[data-choose]")) panels[0].setPointerCapture(event.pointerId);
      });
      // A finger that has dragged gives no click, so letting go settles.
      for (const [way, settled] of [["pointermove", false], ["pointerup", true]]) {
        panels[0].addEventListener(way, (event) => {
          if (panels[0].hasPointerCapture(event.pointerId) && !board.hidden) drag(event, settled);
        });
      }
    }

    // A guess comes first. Nothing is told until it is made, or skipped.
    if (guess) {
      let guessed = guess.opens;
      const form = add(place, "form", { className: "explorable-guess" });
      makers[guess.kind](form, guess, `explorable-${number}-guess`, (at) => (guessed = at));
      const done = (words) => {
        form.remove();
        board.hidden = false;
        figure.classList.remove("guessing");
        add(challenge.parentNode, "span", { className: "explorable-guessed", textContent: words });
        board.querySelector("input:checked, input[type=range]").focus({ preventScroll: true });
      };
      const end = add(form, "div", { className: "explorable-player" });
      add(end, "button", { type: "submit", textContent: "That is my guess" });
      addButton(end, "Skip", "Skip the guess", () => done(""));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        done(verdict(guess, guessed));
      });
      board.hidden = true;
      figure.classList.add("guessing");
    }

    challenge.hidden = false;
    show(positions);
    addEventListener("beforeprint", () => show(controls.map((control) => control.start)));
    addEventListener("afterprint", () => show(positions));
  });
  figures[0]?.getBoundingClientRect(); // from here on marks travel; so far they have jumped
  figures.forEach((figure) => figure.classList.add("moves"));
})();
