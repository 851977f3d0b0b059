/* The editor of a cell: CodeMirror 6 with what a cell needs and no more. esbuild makes one file of this, which a page
   loads when its reader presses Edit. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completeAnyWord,
  completionKeymap,
  completionStatus,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, LanguageSupport, syntaxHighlighting } from "@codemirror/language";
import { globalCompletion, localCompletionSource, pythonLanguage } from "@codemirror/lang-python";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { highlightCode, tagHighlighter, tags as t } from "@lezer/highlight";

/* Pygments' names of classes: the theme colours both, on a light page and on a dark one. */
const pygments = tagHighlighter([
  { tag: [t.controlKeyword, t.definitionKeyword, t.keyword, t.moduleKeyword], class: "k" },
  { tag: t.operatorKeyword, class: "ow" },
  { tag: [t.bool, t.null, t.self], class: "kc" },
  { tag: t.operator, class: "o" },
  { tag: [t.string, t.special(t.string)], class: "s2" },
  { tag: t.number, class: "mi" },
  { tag: t.comment, class: "c1" },
  { tag: t.function(t.definition(t.variableName)), class: "nf" },
  { tag: t.definition(t.className), class: "nc" },
]);

/* Code as the page shows it: lines of spans with these classes. */
export function highlighted(code) {
  const shown = document.createDocumentFragment();
  const put = (text, classes) => {
    const span = Object.assign(document.createElement("span"), { className: classes, textContent: text });
    shown.append(classes ? span : text);
  };
  highlightCode(code, pythonLanguage.parser.parse(code), pygments, put, () => shown.append("\n"));
  return shown;
}

/* The line in which the last run failed, until the code is changed. */
const setLine = StateEffect.define();
const failedLine = StateField.define({
  create: () => Decoration.none,
  update(marks, change) {
    for (const effect of change.effects) {
      if (!effect.is(setLine)) continue;
      if (!effect.value || effect.value > change.newDoc.lines) return Decoration.none;
      const { from } = change.newDoc.line(effect.value);
      return Decoration.set([Decoration.line({ class: "live-failed-line" }).range(from)]);
    }
    return change.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const doing = (action) => () => (action(), true);

/* An editor in `parent`. The tab key is left to the page, where it leads on, so that nobody is caught; Ctrl-] indents. */
export function createEditor(parent, text, { label, changed, run, leave }) {
  const keys = [
    { key: "Shift-Enter", run: doing(run) },
    { key: "Mod-Enter", run: doing(run) },
    { key: "Escape", run: (view) => (completionStatus(view.state) === "active" ? closeCompletion(view) : doing(leave)()) },
    ...completionKeymap,
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...historyKeymap,
  ];
  const view = new EditorView({
    parent,
    doc: text,
    extensions: [
      keymap.of(keys),
      lineNumbers(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ override: [localCompletionSource, globalCompletion, completeAnyWord] }),
      indentUnit.of("    "),
      EditorState.tabSize.of(4),
      new LanguageSupport(pythonLanguage),
      syntaxHighlighting(pygments),
      failedLine,
      EditorView.contentAttributes.of({
        "aria-label": label,
        tabindex: "0",
        spellcheck: "false",
        autocapitalize: "off",
        autocorrect: "off",
      }),
      EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
    ],
  });
  return {
    focus: () => view.focus(),
    destroy: () => view.destroy(),
    mark: (line) => view.dispatch({ effects: setLine.of(line) }),
  };
}
