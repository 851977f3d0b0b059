/* Moves the figures that book/figures/explorable.py prints. Python has drawn every frame; this script makes the
   controls, swaps frames, and sends each mark to its place, where the style sheet lets it travel. It is a classic
   script without dependencies, so that it also runs on a page opened as a file. */
(function () {
  "use strict";
  const SPREAD = 400; // milliseconds in which the last of the marks sets out
  const SKIPPED = "You skipped it; see for yourself.";
  const FOUND = "✓ Found.";
  // From frame to frame while a slider plays: a long walk takes shorter steps.
  const beat = (last) => Math.max(400, Math.min(1200, 18000 / last));
  const slug = (words) => words.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");

  function add(parent, tag, properties) {
    return parent.appendChild(Object.assign(document.createElement(tag), properties));
  }

  function addButton(parent, text, label, pressed) {
    const button = add(parent, "button", { type: "button", textContent: text });
    button.setAttribute("aria-label", label);
    button.addEventListener("click", pressed);
    return button;
  }

  // A place for words that change, with room for the longest of them, so that nothing below moves.
  function addRoom(parent, texts) {
    parent.classList.add("explorable-room");
    parent.dataset.longest = texts.reduce((one, other) => (other.length > one.length ? other : one), "");
    parent.textContent = "";
    return add(parent, "span");
  }

  // Every control is made by a function that calls `moved(position, settled)` when the reader has moved it (settled:
  // has let go), and returns a function that moves it from outside. A guess opens at -1: it has no value yet.

  // A slider counts positions; what a position means stands beside it, and is what a screen reader says.
  function addSlider(place, control, name, moved) {
    const box = add(place, "div", { className: "explorable-slider" });
    add(box, "label", { htmlFor: name, textContent: control.label });
    const value = add(box, "b");
    value.setAttribute("aria-hidden", "true"); // the slider says it
    const last = control.values.length - 1;
    const input = add(box, "input", { type: "range", id: name, min: 0, max: last, autocomplete: "off" });
    const set = (position) => {
      input.value = position < 0 ? last * 0.6 : position; // the middle may be right
      value.textContent = control.values[position] ?? "–";
      input.setAttribute("aria-valuetext", control.values[position] ?? "no value yet");
      input.setCustomValidity(position < 0 ? "Move the slider to your guess." : "");
    };
    set(control.opens);
    if (control.verdicts) input.before(control.values[0]), input.after(control.values[last]); // between these lies a guess
    const take = (settled) => {
      set(Number(input.value));
      moved(Number(input.value), settled);
    };
    input.addEventListener("input", () => take(false));
    input.addEventListener("change", () => take(true));
    // A guess may be where the thumb stands already: a finger that taps it gives no click.
    if (control.opens < 0) for (const way of ["click", "pointerup"]) input.addEventListener(way, () => take(true));
    return { set, box, at: () => Number(input.value), last };
  }

  // Radio buttons: the browser gives them their keyboard, the style sheet makes them look like buttons.
  function addChoice(place, control, name, moved) {
    const group = add(place, "fieldset", { className: "explorable-choice" });
    add(group, "legend", { textContent: control.label });
    const buttons = add(group, "div");
    const inputs = control.values.map((word, position) => {
      const label = add(buttons, "label");
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
  // `go(position, byHand, settled)` moves the slider and the figure: playing has let go where it rests, not on its way.
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
    const step = (by, byHand, settled = byHand) =>
      go(Math.min(slider.last, Math.max(0, slider.at() + by)), byHand, settled);
    const buttons = document.createElement("div");
    slider.box.insertBefore(buttons, slider.box.lastChild).className = "explorable-player";
    addButton(buttons, "‹", `One step back: ${name}`, () => step(-1, true));
    const player = addButton(buttons, "Play", `Play: ${name}`, () => {
      if (timer) return step(0, true);
      timer = setInterval(() => {
        const ends = slider.at() + 1 >= slider.last;
        if (ends) stop();
        step(1, false, ends);
      }, beat(slider.last));
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

  // Those that move set out one after the other.
  function send(panel, places, stagger) {
    const moved = panel.marks.filter((_, i) => String(panel.places?.[i]) !== String(places[i]));
    const after = Math.min(stagger, SPREAD / moved.length);
    moved.forEach((mark, k) => mark.style.setProperty("--after", `${Math.round(k * after)}ms`));
    panel.marks.forEach((mark, i) => put(mark, places[i]));
    panel.places = places;
  }

  // A shape that is drawn elsewhere is moved there, so that the style sheet can let bars and regions travel.
  function move(shape, drawn) {
    const isAlike = shape.tagName === drawn.tagName && shape.children.length === drawn.children.length;
    if (!isAlike || shape.tagName === "text") return shape.replaceWith(drawn);
    for (const { name } of [...shape.attributes]) if (!drawn.hasAttribute(name)) shape.removeAttribute(name);
    for (const { name, value } of drawn.attributes) {
      if (shape.getAttribute(name) !== value) shape.setAttribute(name, value);
    }
    moveAll([...shape.children], [...drawn.children]);
  }
  const moveAll = (shapes, drawn) => shapes.forEach((shape, i) => move(shape, drawn[i]));

  function draw(frame, drawing) {
    const next = frame.cloneNode(false);
    next.innerHTML = drawing;
    if (next.children.length === frame.children.length) moveAll([...frame.children], [...next.children]);
    else frame.replaceChildren(...next.children);
  }

  // A drawing of which a frame fills no more than this height.
  function fit(svg, height) {
    const { width } = svg.viewBox.baseVal;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.setProperty("--ratio", `${width} / ${height}`);
  }

  const isGuessing = (figure) => figure.classList.contains("guessing");

  // The drawings and the sentence. Returns a function that shows the frame at some positions, under a name that tells
  // what it shows; `waits` for a guess, and then gives nothing away.
  function addStage(figure, { controls, parts, frames, stagger = 0, heights }) {
    const title = figure.querySelector("strong").textContent;
    figure.querySelector(".explorable-challenge").hidden = false;
    const sentence = addRoom(figure.querySelector("output"), frames.map(([words, goal]) => words + (goal ? " 0" + FOUND : "")));
    const panels = [...figure.querySelectorAll(".explorable-panels > svg")].map((svg) => ({
      svg,
      frame: svg.querySelector(".frame"),
      marks: [...svg.querySelectorAll(".traveller")],
    }));
    return (positions, waits) => {
      // The frames are in a row, the last control moving fastest.
      const index = controls.reduce((sum, { values }, k) => sum * values.length + Math.max(0, positions[k]), 0);
      const [words, goal, ...scenes] = frames[index];
      sentence.textContent = words;
      if (heights) fit(panels[0].svg, heights[index]);
      scenes.forEach(([drawing, places], k) => {
        const which = k ? ", the second drawing" : "";
        panels[k].svg.setAttribute("aria-label", `${title}${which}. ${waits ? "Your guess comes first." : words}`);
        draw(panels[k].frame, drawing.map((part) => parts[part]).join(""));
        send(panels[k], places, stagger);
      });
      return goal;
    };
  }

  // The position whose point is nearest to the pointer, in the pixels of the drawing.
  function nearest(points, svg, event) {
    const spot = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const far = points.map(([x, y]) => Math.hypot(spot.x - x, spot.y - y));
    return far.indexOf(Math.min(...far));
  }

  // The drawing itself: tap what chooses a value; in the first panel, drag or tap where a slider has points. Where there
  // is something to take hold of, a finger drags from there alone: elsewhere it scrolls the page.
  function addDragging(figure, controls, go) {
    const [first, ...others] = figure.querySelectorAll(".explorable-panels > svg");
    const dragged = [...controls.keys()].filter((k) => controls[k].points);
    const drag = (event, settled) =>
      dragged.forEach((k) => go(k, nearest(controls[k].points, first, event), true, settled));
    for (const svg of [first, ...others]) {
      svg.addEventListener("click", (event) => {
        if (isGuessing(figure)) return;
        const value = event.target.closest("[data-choose]")?.dataset.choose;
        const k = controls.findIndex((control) => control.values.includes(value));
        if (k >= 0) go(k, controls[k].values.indexOf(value), true, true);
        else if (svg === first) drag(event, true);
      });
    }
    if (!dragged.length) return;
    const upright = dragged.every((k) => controls[k].points.every(([x]) => x === controls[k].points[0][0]));
    first.classList.add(dragged.length > 1 ? "drag-both" : upright ? "drag-y" : "drag-x");
    const isHeld = ({ target, pointerType }) =>
      !target.closest("[data-choose]") &&
      (pointerType !== "touch" || target.closest(".handle") || !first.querySelector(".handle"));
    let held = null; // the pointer that drags; the browser lets a finger capture what it touches, held or not
    first.addEventListener("pointerdown", (event) => {
      held = isHeld(event) && !isGuessing(figure) ? event.pointerId : null;
      if (held !== null) first.setPointerCapture(held);
    });
    // A finger that has dragged gives no click, so letting go settles.
    for (const [way, settled] of [["pointermove", false], ["pointerup", true]]) {
      first.addEventListener(way, (event) => {
        if (event.pointerId === held && first.hasPointerCapture(held)) drag(event, settled);
      });
    }
  }

  // A guess comes first. Nothing is told until it is made, or skipped; `done` hears the verdict.
  function addGuess(figure, place, guess, name, done) {
    let guessed = -1;
    const form = add(place, "form", { className: "explorable-guess" });
    makers[guess.kind](form, guess, name, (at) => (guessed = at));
    const finish = (verdict) => {
      figure.classList.remove("guessing");
      done(verdict);
      place.querySelector(".explorable-board :is(:checked, [type=range])").focus({ preventScroll: true });
    };
    const end = add(form, "div", { className: "explorable-player" });
    add(end, "button", { type: "submit", textContent: "That is my guess" });
    addButton(end, "Skip", "Skip the guess", () => finish(SKIPPED));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      finish(guess.verdicts[guessed]);
    });
    figure.classList.add("guessing");
  }

  // The verdict on a guess, which stays; above it the question, where that fits into the room which the guess leaves.
  function addVerdict(place, guess) {
    const told = add(place, "div", { className: "explorable-told" });
    const asked = add(told, "p", { textContent: guess.label });
    const room = add(told, "div", { className: "explorable-room" });
    room.setAttribute("role", "status");
    for (const textContent of guess.verdicts) add(room, "span", { className: "ghost", textContent });
    const verdict = add(room, "span", { className: "explorable-verdict" });
    new ResizeObserver(() => {
      asked.hidden = true;
      const height = place.offsetHeight;
      asked.hidden = false;
      asked.hidden = place.offsetHeight > height;
    }).observe(place);
    return (words) => (verdict.textContent = words);
  }

  // Behind the challenge stands whether it is met, and behind the sentence of what meets it. It is met where the figure
  // comes to rest: what playing only passes, the reader has not found. What was found stays found. A challenge of several
  // parts is met when each of them has been.
  function addFound(figure, asked) {
    const challenge = figure.querySelector(".explorable-challenge");
    challenge.append(" ");
    const room = add(challenge, "span", { className: "explorable-seal" });
    room.setAttribute("role", "status");
    const found = add(room, "span", { className: "explorable-found" });
    const met = new Set();
    return (goal, settled) => {
      if (goal && settled) met.add(goal);
      found.textContent = met.size === asked ? FOUND : met.size ? `✓ ${met.size} of ${asked}.` : "";
      figure.querySelector("output > span").dataset.met = met.has(goal) ? found.textContent : "";
    };
  }

  // The state of a figure in an address, by the words that the controls show: #figure-slide-the-cut?cut-at=0.38. As it
  // opens, the figure's name is enough.
  function addLink(figure, controls, go) {
    const link = add(figure.querySelector("figcaption"), "a", { className: "explorable-link", textContent: "#" });
    figure.querySelector("strong").after(link);
    link.setAttribute("aria-label", "Link to this state of the figure");
    const keys = controls.map((control) => slug(control.label));
    const read = () => {
      const [id, state] = location.hash.slice(1).split("?");
      if (id !== figure.id || !state) return;
      const asked = new URLSearchParams(state);
      const positions = controls.map(({ values }, k) => values.indexOf(asked.get(keys[k])));
      if (positions.includes(-1)) return;
      go(positions);
      figure.scrollIntoView();
    };
    addEventListener("hashchange", read);
    return {
      read,
      write: (positions) => {
        const state = new URLSearchParams(positions.map((at, k) => [keys[k], controls[k].values[at]]));
        const hasMoved = positions.some((at, k) => at !== controls[k].opens);
        link.href = `${location.href.split("#")[0]}#${figure.id}${hasMoved ? `?${state}` : ""}`;
      },
    };
  }

  // While a pointer holds a slider or the drawing, the marks keep up with it.
  function followPointer(figure) {
    figure.addEventListener("pointerdown", ({ target }) =>
      figure.classList.toggle("held", target.matches("[type=range], [class^=drag] *, [class^=drag]")),
    );
    for (const way of ["pointerup", "pointercancel"]) {
      addEventListener(way, () => figure.classList.remove("held"));
    }
  }

  // The controls on their board, each moved by hand or, if it is a slider, by its player.
  function addControls(board, controls, name, go) {
    const made = controls.map((control, k) =>
      makers[control.kind](board, control, `${name}-${k}`, (at, settled) => go(k, at, true, settled)),
    );
    const sliders = [...controls.keys()].filter((k) => controls[k].kind === "slider");
    if (sliders.length > 1) board.classList.add("pair");
    const players = sliders.map((k) => addPlayer(made[k], controls[k].label, (...how) => go(k, ...how)));
    return { made, players };
  }

  // The controls stick by the board, below what is told.
  function stickBy(board, place) {
    const over = () => board.getBoundingClientRect().top - place.getBoundingClientRect().top;
    new ResizeObserver(() => place.style.setProperty("--over", `${over()}px`)).observe(place);
  }

  // On paper a figure is at rest, at once.
  function restInPrint(figure, rest, resume) {
    addEventListener("beforeprint", () => {
      figure.classList.remove("moves");
      rest();
    });
    addEventListener("afterprint", () => {
      resume();
      figure.getBoundingClientRect();
      figure.classList.add("moves");
    });
  }

  function enliven(figure, number) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const { controls, guess, frames } = data;
    const positions = controls.map((control) => control.opens);
    const show = addStage(figure, data);
    const place = figure.querySelector(".explorable-controls");
    const judge = guess && addVerdict(place, guess);
    const asked = new Set(frames.map(([, goal]) => goal).filter(Boolean)).size;
    const board = add(place, "div", { className: "explorable-board" });
    const find = asked ? addFound(figure, asked) : () => {};
    function update(settled) {
      // A screen reader waits until a slider that plays has stopped.
      const live = players.some((player) => player.plays()) ? "off" : "polite";
      figure.querySelector("output").setAttribute("aria-live", live);
      find(show(positions, isGuessing(figure)), settled);
      link.write(positions);
    }
    function go(k, position, byHand, settled) {
      if (byHand) players.forEach((player) => player.stop());
      positions[k] = position;
      controls.forEach(({ kind, start }, i) => {
        if (positions[i] < 0) positions[i] = start;
        if (controls[k].steps && kind === "slider" && !positions[i]) positions[i] = 1;
        made[i].set(positions[i]);
      });
      update(settled);
    }

    const { made, players } = addControls(board, controls, `explorable-${number}`, go);
    addDragging(figure, controls, go);
    followPointer(figure);
    const link = addLink(figure, controls, (all) => {
      figure.classList.remove("guessing");
      all.forEach((at, k) => go(k, at, true, false));
    });
    const done = (verdict) => {
      judge(verdict);
      update(false);
    };
    if (guess) addGuess(figure, place, guess, `explorable-${number}-guess`, done);
    update(false);
    stickBy(board, place);
    restInPrint(figure, () => show(controls.map((control) => control.start)), () => show(positions, isGuessing(figure)));
    return link.read;
  }

  let count = 0; // figures so far: their names go on

  function start(box) {
    const figures = [...box.querySelectorAll("figure.explorable:not(.moves)")];
    const readers = figures.map((figure) => enliven(figure, count++));
    figures[0]?.getBoundingClientRect(); // from here on marks travel; so far they have jumped
    figures.forEach((figure) => figure.classList.add("moves"));
    readers.forEach((read) => read());
  }
  start(document);
  addEventListener("new-output", ({ detail }) => start(detail)); // of a cell that the reader has run
})();
