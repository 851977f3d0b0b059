/* Checks: the page holds each as text with its replies folded; here it becomes a form that replies at once. What the
   reader has answered stays in this browser. The contents of the page show it, and can forget it. */
(() => {
  "use strict";
  const KEY = `checks:${location.pathname}`;

  /* A browser may refuse to store. Then the answers live as long as the page. */
  let answers = {};
  try {
    answers = JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {}
  const store = () => {
    try {
      if (Object.keys(answers).length) localStorage.setItem(KEY, JSON.stringify(answers));
      else localStorage.removeItem(KEY);
    } catch {}
  };

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  /* Of 0.5, 1,000, 0,5, −2, 3/8, 1/2 ln 3 or 200 dishes the number; NaN of anything else. As in the book, log is log2. */
  const FUNCTIONS = { ln: Math.log, log: Math.log2, log2: Math.log2, sqrt: Math.sqrt };
  const toNumber = (text) => {
    const plain = text.trim().replace(/[−–]/g, "-").replace(/[×·]/g, "*").replace(/log_2/g, "log2").replace(/(?<=\d)\s+(?=\d{3}\b)/g, "");
    const bare = plain.replace(/%|(?<=\d)\s*(?!ln|log|sqrt)[a-z]+$/gi, "");
    const isGrouped = /^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(bare);
    const tokens = bare.replaceAll(",", isGrouped ? "" : ".").match(/\d*\.?\d+(e[-+]?\d+)?|log2|[a-z]+|\S/g) ?? [];
    const atom = () => {
      const token = tokens.shift();
      if (token === "-") return -power();
      if (Object.hasOwn(FUNCTIONS, token)) return FUNCTIONS[token](power());
      if (token !== "(") return Number(token ?? NaN);
      const inside = sum();
      return tokens.shift() === ")" ? inside : NaN;
    };
    const power = () => {
      const base = atom();
      return tokens[0] === "^" && tokens.shift() ? base ** power() : base;
    };
    const product = () => {
      let value = power();
      while (tokens.length && !"+-)".includes(tokens[0])) {
        const isOver = tokens[0] === "/";
        if ("*/".includes(tokens[0])) tokens.shift();
        value = isOver ? value / power() : value * power();
      }
      return value;
    };
    const sum = () => {
      let value = product();
      while ("+-".includes(tokens[0] ?? " ")) value += tokens.shift() === "+" ? product() : -product();
      return value;
    };
    const value = sum();
    return tokens.length ? NaN : value;
  };

  /* How each kind is asked: `read` what the reader has answered ("" for nothing), `write` it, find its reply. */
  const KINDS = {
    choose(check, list) {
      const inputs = [...list.children].map((item, place) => {
        const input = make("input", { type: "radio", name: check.id, value: place });
        item.replaceChildren(make("label", {}, input, make("span", {}, ...item.querySelector("p").childNodes)));
        return input;
      });
      return {
        ask: "Choose an answer first.",
        read: () => inputs.find((input) => input.checked)?.value ?? "",
        write: (given) => inputs.forEach((input) => (input.checked = input.value === given)),
        pick: (given, replies) => replies[given],
      };
    },

    number(check) {
      const input = make("input", { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false });
      check.querySelector(".check-tolerance").before(make("label", { className: "check-number" }, "Your number ", input));
      const tolerance = Number(check.dataset.tolerance);
      /* 70.8 % may mean 0.708 or 70.8. A known mistake is recognised however the reader has rounded it. */
      const isNear = (given, reply, within) =>
        [1, given.includes("%") ? 100 : 1].some(
          (scale) => Math.abs(toNumber(given) / scale - reply.dataset.value) <= within + 1e-9,
        );
      return {
        ask: `Type a number, such as ${tolerance ? "0.5" : "12"}.`,
        read: () => (Number.isFinite(toNumber(input.value)) ? input.value : ""),
        write: (given) => (input.value = given),
        pick: (given, replies) => {
          const decimals = given.match(/^\D*\d*[.,](\d+)\s*$/)?.[1].length;
          const rounded = decimals ? 0.5 / 10 ** decimals : 0;
          const numbers = replies.filter((reply) => reply.dataset.value);
          const isWrong = (reply) => reply.classList.contains("check-wrong");
          const other = replies.find((reply) => !reply.dataset.value);
          if (other) other.querySelector(".check-answer").lastChild.textContent = given.trim();
          return (
            numbers.find((reply) => isNear(given, reply, tolerance)) ??
            numbers.find((reply) => isWrong(reply) && isNear(given, reply, rounded)) ??
            other
          );
        },
      };
    },

    order(check, list) {
      const items = [...list.children];
      check.dataset.shown.split(" ").forEach((place, index) => (items[index].dataset.place = place));
      const status = make("span", { className: "check-moved" });
      status.setAttribute("role", "status");
      list.after(status);
      const name = (item) => item.querySelector("p").textContent;
      const button = (item, sign, way, move) => {
        const made = make("button", { type: "button", textContent: sign });
        made.setAttribute("aria-label", `Move ${way}: ${name(item)}`);
        made.addEventListener("click", () => {
          move();
          made.focus();
          status.textContent = `${name(item)}: now ${[...list.children].indexOf(item) + 1} of ${items.length}`;
          list.dispatchEvent(new Event("input", { bubbles: true }));
        });
        return made;
      };
      for (const item of items) {
        const up = button(item, "↑", "up", () => item.previousElementSibling?.before(item));
        const down = button(item, "↓", "down", () => item.nextElementSibling?.after(item));
        item.prepend(up, down);
      }
      return {
        read: () => [...list.children].map((item) => item.dataset.place).join(" "),
        write: (given) => {
          const wanted = (given || check.dataset.shown).split(" ");
          list.append(...wanted.flatMap((place) => items.filter((item) => item.dataset.place === place)));
        },
        pick: (given, replies) => {
          const places = given.split(" ");
          const isGiven = ({ classList, dataset }) => {
            if (classList.contains("check-right")) return places.every((place, index) => Number(place) === index);
            const [first, second] = dataset.before?.split(" ") ?? [];
            return !first || places.indexOf(first) < places.indexOf(second);
          };
          return replies.find(isGiven);
        },
      };
    },
  };

  const setUp = (check) => {
    const list = check.querySelector(".check-answers");
    const fold = check.querySelector(".check-replies");
    const replies = [...fold.querySelectorAll(".check-reply")];
    const asked = make("p", { className: "check-asked", hidden: true });
    const said = make("div", { className: "check-said" }, asked, ...replies);
    const fields = make("fieldset");
    const form = make("form", { noValidate: true }, fields, make("button", { textContent: "Check" }), said);
    said.setAttribute("role", "status");
    fields.setAttribute("aria-labelledby", `${check.id}-question`);
    fields.append(...check.querySelectorAll(".check-tolerance, .check-answers"));
    fold.replaceWith(form);
    const kind = KINDS[check.dataset.kind](check, list);

    const show = (shown) => {
      for (const part of said.children) part.hidden = part !== shown;
    };
    const state = { check, isRight: false, isAnswered: false };
    const judge = (given) => {
      const reply = kind.pick(given, replies);
      show(reply);
      state.isAnswered = Boolean(reply);
      state.isRight = Boolean(reply?.classList.contains("check-right"));
    };
    state.forget = () => {
      kind.write("");
      show();
      state.isAnswered = state.isRight = false;
    };
    form.addEventListener("input", () => show()); // the reply was to another answer
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = kind.read();
      if (given) {
        judge(given);
        answers[check.id] = given;
        store();
        tell();
      } else {
        asked.textContent = kind.ask;
        show(asked);
      }
    });
    show();
    if (answers[check.id]) {
      kind.write(answers[check.id]);
      judge(answers[check.id]);
    }
    return state;
  };

  /* Beside the page's contents: a mark for each section with a check, how many are answered right, and a way to forget. */
  const contents = document.querySelector("nav.page-toc");
  const links = [...(contents?.querySelectorAll("a[href^='#']") ?? [])];
  const linkTo = (check) => links.find((link) => document.getElementById(link.hash.slice(1))?.contains(check));
  const forget = make("button", { type: "button", textContent: "Forget my answers" });
  const count = make("p");
  const summary = make("div", { className: "checks-summary" }, count, forget);

  const tell = () => {
    for (const link of links) {
      link.querySelector(".check-mark")?.remove();
      const here = states.filter((state) => linkTo(state.check) === link);
      if (!here.some((state) => state.isAnswered)) continue;
      const isRight = here.every((state) => state.isRight);
      const mark = make("span", { className: "check-mark", textContent: isRight ? " ✓" : " ○" });
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", isRight ? "check answered right" : "check not answered right yet");
      link.append(mark);
    }
    const right = states.filter((state) => state.isRight).length;
    count.textContent = `${right} of ${states.length} checks answered right`;
    summary.hidden = !states.some((state) => state.isAnswered);
  };

  const states = [...document.querySelectorAll(".check")].map(setUp);
  forget.addEventListener("click", () => {
    answers = {};
    store();
    for (const state of states) state.forget();
    tell();
  });
  (contents ?? states.at(-1)?.check)?.after(summary);
  tell();
})();
