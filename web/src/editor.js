// The editor of YAML: `<textarea data-editor data-check=URL data-complete=URL data-hover=URL>`. Hints
// come from Nacre's own validator, so that they are those of `nacre check`. Without script the
// textarea is edited as it is.
//   check     {text, job} → {problems, warnings, lights}, each finding with start, end, line, column
//   complete  {text, job, offset} → {start, items: [{label, kind, insert, detail, doc}]}
//   hover     {text, job, offset} → {found, start, end, title, type, doc, default, …}
// Offsets there are in characters, here in units of UTF-16.
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
  return Math.min(found.from + units(found.text, Math.max(column - 1, 0)), found.to);
}

const PAIRED = /[\ud800-\udbff]/;

// Units of UTF-16 of the first characters of a text.
function units(words, characters) {
  if (!PAIRED.test(words)) return characters;
  let at = 0;
  for (let left = characters; left > 0 && at < words.length; left -= 1) at += words.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

// Characters of the first units of UTF-16 of a text.
function characters(words, count) {
  return PAIRED.test(words) ? [...words.slice(0, count)].length : count;
}

function diagnostic(words, finding, severity) {
  const length = words.length;
  const from = Math.min(units(words, finding.start), length);
  const to = Math.min(Math.max(units(words, finding.end), from), length);
  const parts = [finding.message];
  if (finding.expected) parts.push(text("expected", { value: finding.expected }));
  if (finding.sample) parts.push(text("sample", { value: finding.sample }));
  const actions = (finding.fixes ?? []).map((fix) => ({
    name: text("write", { value: fix.insert }),
    apply(view) {
      const now = view.state.doc.toString();
      view.dispatch({ changes: { from: units(now, fix.start), to: units(now, fix.end), insert: fix.insert } });
    },
  }));
  return { from, to, severity, message: parts.join("\n"), actions };
}

// Of two questions under way only the answer to the newer one counts.
function checking(area) {
  let newest = 0;
  let known = [];
  return async (view) => {
    newest += 1;
    const mine = newest;
    const words = view.state.doc.toString();
    const answer = await ask("POST", area.dataset.check, { text: words, job: area.dataset.job ?? "" });
    if (mine !== newest || !answer.ok) return known.filter((one) => one.to <= view.state.doc.length);
    list(area, answer.data);
    const problems = answer.data.problems.filter((one) => one.start >= 0);
    const warnings = answer.data.warnings.filter((one) => one.start >= 0);
    known = [
      ...problems.map((one) => diagnostic(words, one, "error")),
      ...warnings.map((one) => diagnostic(words, one, "warning")),
    ];
    return known;
  };
}

// The findings below the editor, and the three lights.
function list(area, data) {
  const box = document.querySelector(`[data-findings="${area.id}"]`);
  if (box) {
    const found = [...data.problems.map((one) => [one, "problem"]), ...data.warnings.map((one) => [one, "warning"])];
    box.replaceChildren(...found.map(([one, kind]) => item(area, one, kind)));
    const none = document.querySelector(`[data-no-findings="${area.id}"]`);
    if (none) none.hidden = found.length > 0;
  }
  for (const light of document.querySelectorAll("[data-light]")) {
    const count = data.lights[light.dataset.light] ?? -1;
    light.className = `state state-${count === 0 ? "good" : count > 0 ? "bad" : "still"}`;
    const words = count === 0 ? text("light-good") : count > 0 ? text("problems", { count }) : text("light-unknown");
    light.textContent = light.dataset.lead + words;
  }
  const red = [...document.querySelectorAll("[data-light]")].find((light) => data.lights[light.dataset.light] !== 0);
  const start = document.querySelector("[data-start]");
  const why = document.getElementById("start-why");
  if (start) start.disabled = Boolean(red);
  if (why) why.textContent = red ? `${why.dataset.text} ${red.dataset.name}` : "";
}

function part(tag, words, kind = "") {
  const made = document.createElement(tag);
  made.textContent = words;
  if (kind) made.className = kind;
  return made;
}

function item(area, one, kind) {
  const line = part("li", "", `finding finding-${kind}`);
  if (one.line && !one.file) {
    const link = part("a", text("line", { line: one.line }));
    link.href = `#${area.id}`;
    Object.assign(link.dataset, { for: area.id, line: one.line, column: one.column || 1 });
    line.append(link, " ");
  } else if (one.file) {
    line.append(part("code", one.line ? `${one.file}:${one.line}` : one.file), " ");
  }
  if (one.path) line.append(part("code", one.path), " ");
  line.append(part("span", one.message));
  if (one.expected) line.append(" ", part("span", text("expected", { value: one.expected }), "hint"));
  if (one.sample) line.append(" ", part("span", text("sample", { value: one.sample }), "hint"));
  return line;
}

const KINDS = { section: "namespace", setting: "property", value: "constant", rule: "class", processor: "function", clip: "text" };

function completing(area) {
  return async (context) => {
    const word = context.matchBefore(/[\w.-]*/);
    if (!context.explicit && word?.from === word?.to) return null;
    const words = context.state.doc.toString();
    const body = { text: words, job: area.dataset.job ?? "", offset: characters(words, context.pos) };
    const answer = await ask("POST", area.dataset.complete, body);
    if (!answer.ok || context.aborted || !answer.data.items.length) return null;
    // In the order of the answer: the best first, clips last.
    const options = answer.data.items.map((one, number) => ({
      label: one.label,
      boost: Math.max(99 - number, -99),
      type: KINDS[one.kind] ?? "text",
      detail: one.detail,
      info: one.doc || undefined,
      apply: one.insert,
    }));
    return { from: units(words, answer.data.start), options, validFor: /^[\w.-]*$/ };
  };
}

function meaning(card) {
  const dom = part("div", "", "hover");
  dom.append(part("strong", card.type ? `${card.title} (${card.type})` : card.title));
  if (card.doc) dom.append(part("p", card.doc));
  if (card.default) dom.append(part("p", text("default", { value: card.default })));
  if (card.sample) dom.append(part("p", text("sample", { value: card.sample })));
  if (card.heritrix.length) dom.append(part("p", text("in-heritrix", { value: card.heritrix.join(", ") })));
  if (card.kind === "setting") dom.append(part("p", text(card.live ? "is-live" : "is-fixed")));
  return dom;
}

function hovering(area) {
  return hoverTooltip(async (view, position) => {
    const words = view.state.doc.toString();
    const body = { text: words, job: area.dataset.job ?? "", offset: characters(words, position) };
    const answer = await ask("POST", area.dataset.hover, body);
    if (!answer.ok || !answer.data?.found) return null;
    return {
      pos: units(words, answer.data.start),
      end: units(words, answer.data.end),
      create: () => ({ dom: meaning(answer.data) }),
    };
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
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    syntaxHighlighting(colours),
    yaml(),
    // Tab leaves the editor: who has only keys must get on.
    keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
  ];
}

// The selected lines, in the fields of the clip that they may become: `<details data-clip=ID>`.
function clipping(area, state) {
  const box = document.querySelector(`[data-clip="${area.id}"]`);
  const { from, to, empty } = state.selection.main;
  if (!box || empty) return;
  const last = state.doc.lineAt(to);
  const end = last.from === to && to > from ? last.number - 1 : last.number;
  box.querySelector("[name=clip-first]").value = state.doc.lineAt(from).number;
  box.querySelector("[name=clip-last]").value = end;
}

function edit(area) {
  const label = area.labels?.[0]?.textContent.trim() || text("editor");
  const extensions = basics(label);
  if (area.dataset.check) extensions.push(lintGutter(), linter(checking(area), { delay: DELAY }));
  if (area.dataset.complete) extensions.push(autocompletion({ override: [completing(area)] }));
  if (area.dataset.hover) extensions.push(hovering(area));
  if (area.readOnly) extensions.push(EditorState.readOnly.of(true));
  extensions.push(EditorView.updateListener.of((update) => {
    if (update.selectionSet) clipping(area, update.state);
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
