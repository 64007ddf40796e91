// The editor of YAML: `<textarea data-editor data-check=URL data-complete=URL data-hover=URL>`. Hints
// come from Nacre's own validator, so that they are those of `nacre check`. Without script the
// textarea is edited as it is.
//   check     {text, job} → {problems: [{line, column, message, severity}]}; line and column from 1
//   complete  {text, job, offset} → {from, options: [{label, detail, info, apply}]}
//   hover     {text, job, offset} → {from, to, text}
import { autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, linter } from "@codemirror/lint";
import { MergeView } from "@codemirror/merge";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { ask, text } from "./page.js";

const DELAY = 300;

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: "tok-key" },
  { tag: [tags.string, tags.content], class: "tok-string" },
  { tag: [tags.number, tags.bool, tags.null], class: "tok-value" },
  { tag: tags.comment, class: "tok-comment" },
  { tag: [tags.keyword, tags.meta, tags.labelName, tags.typeName], class: "tok-meta" },
]);

function place(document, line, column) {
  const found = document.line(Math.min(Math.max(line, 1), document.lines));
  return Math.min(found.from + Math.max(column - 1, 0), found.to);
}

// Of two questions under way only the answer to the newer one counts.
function checking(area) {
  let newest = 0;
  return async (view) => {
    newest += 1;
    const mine = newest;
    const document = view.state.doc;
    const answer = await ask("POST", area.dataset.check, { text: document.toString(), job: area.dataset.job ?? "" });
    if (mine !== newest || !answer.ok) return [];
    const found = answer.data.problems ?? [];
    area.dispatchEvent(new CustomEvent("nacre:checked", { detail: answer.data, bubbles: true }));
    return found.map((problem) => {
      const from = place(document, problem.line ?? 1, problem.column ?? 1);
      const to = document.lineAt(from).to;
      return { from, to: Math.max(from, to), severity: problem.severity ?? "error", message: problem.message };
    });
  };
}

function completing(area) {
  return async (context) => {
    const word = context.matchBefore(/[\w.-]*/);
    if (!context.explicit && word?.from === word?.to) return null;
    const body = { text: context.state.doc.toString(), job: area.dataset.job ?? "", offset: context.pos };
    const answer = await ask("POST", area.dataset.complete, body);
    if (!answer.ok || context.aborted) return null;
    return { from: answer.data.from, options: answer.data.options, validFor: /^[\w.-]*$/ };
  };
}

function hovering(area) {
  return hoverTooltip(async (view, position) => {
    const body = { text: view.state.doc.toString(), job: area.dataset.job ?? "", offset: position };
    const answer = await ask("POST", area.dataset.hover, body);
    if (!answer.ok || !answer.data?.text) return null;
    const create = () => {
      const dom = document.createElement("div");
      dom.className = "hover";
      dom.textContent = answer.data.text;
      return { dom };
    };
    return { pos: answer.data.from ?? position, end: answer.data.to ?? position, create };
  });
}

function basics(label) {
  return [
    lineNumbers(),
    foldGutter(),
    history(),
    drawSelection(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    indentUnit.of("  "),
    EditorState.tabSize.of(2),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label }),
    syntaxHighlighting(colours),
    yaml(),
    // Tab leaves the editor: who has only keys must get on.
    keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
  ];
}

function edit(area) {
  const label = area.labels?.[0]?.textContent.trim() || text("editor");
  const extensions = basics(label);
  if (area.dataset.check) extensions.push(lintGutter(), linter(checking(area), { delay: DELAY }));
  if (area.dataset.complete) extensions.push(autocompletion({ override: [completing(area)] }));
  if (area.dataset.hover) extensions.push(hovering(area));
  if (area.readOnly) extensions.push(EditorState.readOnly.of(true));
  extensions.push(EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    area.value = update.state.doc.toString();
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }));
  const view = new EditorView({ doc: area.value, extensions });
  area.before(view.dom);
  area.hidden = true;
  // A finding beside the editor leads to its line.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(`[data-line][data-for="${area.id}"]`);
    if (!link) return;
    event.preventDefault();
    const at = place(view.state.doc, Number(link.dataset.line), Number(link.dataset.column ?? 1));
    view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    view.focus();
  });
}

// Two versions beside each other: `<div data-editor="compare">` with two <textarea>s in it.
function compare(box) {
  const [older, newer] = box.querySelectorAll("textarea");
  const side = (area) => ({
    doc: area.value,
    extensions: [...basics(area.getAttribute("aria-label") ?? ""), EditorState.readOnly.of(true)],
  });
  new MergeView({ a: side(older), b: side(newer), parent: box, collapseUnchanged: { margin: 3, minSize: 6 } });
  older.hidden = true;
  newer.hidden = true;
}

for (const element of document.querySelectorAll("[data-editor]:not([data-editing])")) {
  element.dataset.editing = "";
  if (element.dataset.editor === "compare") compare(element);
  else edit(element);
}
