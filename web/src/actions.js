// Buttons and forms that ask the interface for programs.
//   <button data-ask="POST /api/v1/jobs/J/pause" [data-body='{"…": …}'] [data-done="…"]>
//   <form data-ask="POST /api/v1/jobs" data-next="/j/{id}">: its fields by `name` (dots nest);
//   data-type: lines, number, flag; a field with data-omit-empty is left out when it is empty.
// After it `<output data-answer="key">` in the form shows that field of the answer.
// `data-confirm="ID"` names a <dialog> that asks first; its form has method="dialog".
import { announce, ask, text } from "./page.js";
import { settle } from "./unsaved.js";

function notice(words, kind) {
  const box = document.getElementById("notices");
  if (!box) return;
  box.replaceChildren();
  const line = document.createElement("p");
  line.className = `notice notice-${kind}`;
  line.textContent = words;
  box.append(line);
}

function reason(answer) {
  return answer.data?.detail ?? text("refused", { status: answer.status });
}

function confirmed(element) {
  const dialog = document.getElementById(element.dataset.confirm ?? "");
  if (!dialog) return Promise.resolve(true);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

async function press(button) {
  if (!(await confirmed(button))) return;
  const [verb, path] = button.dataset.ask.split(" ");
  button.setAttribute("aria-busy", "true");
  const answer = await ask(verb, path, button.dataset.body ? JSON.parse(button.dataset.body) : {});
  button.removeAttribute("aria-busy");
  if (!answer.ok) {
    notice(reason(answer), "error");
    return;
  }
  const done = button.dataset.done ?? "";
  notice(done, "done");
  announce(done);
  document.dispatchEvent(new CustomEvent("nacre:asked"));
  if (button.dataset.next) location.assign(button.dataset.next);
}

function fieldValue(field) {
  switch (field.dataset.type) {
    case "lines":
      return field.value.split("\n").map((line) => line.trim()).filter(Boolean);
    case "number":
      return field.value === "" ? null : Number(field.value);
    case "flag":
      return field.checked;
    default:
      return field.type === "password" ? field.value : field.value.trim();
  }
}

// The fields of a form as an object. The button that sends it may add one by its own name.
export function bodyOf(form, sender) {
  const body = {};
  for (const field of form.elements) {
    if (!field.name || field.disabled || (field.type === "radio" && !field.checked)) continue;
    if (field.tagName === "BUTTON" && field !== sender) continue;
    const value = field === sender ? field.value : fieldValue(field);
    if ("omitEmpty" in field.dataset && (value === "" || value === null || value.length === 0)) continue;
    const path = field.name.split(".");
    const last = path.pop();
    path.reduce((inner, part) => (inner[part] ??= {}), body)[last] = value;
  }
  return body;
}

function fieldOf(form, path) {
  const names = path ? path.split(/[.[]/) : [];
  return names.length ? form.querySelector(`[name="${CSS.escape(path)}"], [name="${CSS.escape(names[0])}"]`) : null;
}

function clear(form) {
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    const hint = field.getAttribute("aria-describedby")?.replace(/ ?\S+-error$/, "");
    if (hint) field.setAttribute("aria-describedby", hint);
    else field.removeAttribute("aria-describedby");
  }
  for (const old of form.querySelectorAll(".field-error")) old.remove();
}

function mark(form, problem) {
  const field = fieldOf(form, problem.path ?? "");
  if (!field) return null;
  field.setAttribute("aria-invalid", "true");
  const line = document.createElement("p");
  line.className = "field-error";
  line.id = `${field.id}-error`;
  line.textContent = problem.message;
  field.after(line);
  const described = field.getAttribute("aria-describedby");
  field.setAttribute("aria-describedby", described ? `${described} ${line.id}` : line.id);
  return field;
}

// All errors above the form, in focus; each leads to its field.
function showErrors(form, answer) {
  const summary = form.querySelector(".error-summary");
  const problems = answer.data?.problems?.length ? answer.data.problems : [{ message: reason(answer) }];
  const list = document.createElement("ul");
  for (const problem of problems) {
    const field = mark(form, problem);
    const item = document.createElement("li");
    if (field) {
      const link = document.createElement("a");
      link.href = `#${field.id}`;
      link.textContent = problem.message;
      link.addEventListener("click", (event) => {
        event.preventDefault();
        field.focus();
      });
      item.append(link);
    } else {
      item.textContent = problem.path ? `${problem.path}: ${problem.message}` : problem.message;
    }
    list.append(item);
  }
  const head = document.createElement("h2");
  head.textContent = text("problems", { count: problems.length });
  summary.replaceChildren(head, list);
  summary.hidden = false;
  summary.focus();
}

async function send(form, sender) {
  clear(form);
  const summary = form.querySelector(".error-summary");
  if (summary) summary.hidden = true;
  const [verb, path] = (sender?.dataset.ask ?? form.dataset.ask).split(" ");
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  const answer = await ask(verb, path, bodyOf(form, sender));
  for (const button of buttons) button.disabled = false;
  if (!answer.ok) {
    if (summary) showErrors(form, answer);
    else notice(reason(answer), "error");
    return;
  }
  settle(form);
  const next = sender?.dataset.next ?? form.dataset.next;
  if (next) {
    location.assign(next.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(answer.data?.[name] ?? "")));
    return;
  }
  const done = sender?.dataset.done ?? form.dataset.done ?? "";
  notice(done, "done");
  announce(done);
  for (const place of form.querySelectorAll("output[data-answer]")) {
    place.textContent = answer.data?.[place.dataset.answer] ?? "";
  }
  form.dispatchEvent(new CustomEvent("nacre:answer", { detail: answer.data, bubbles: true }));
}

// A button beside a number changes it by so much, and sends its form at once.
function stepped(button) {
  const field = document.getElementById(button.getAttribute("aria-controls"));
  if (!field || button.disabled) return;
  const number = Number(field.value) + Number(button.dataset.step);
  if (number < Number(field.min) || number > Number(field.max)) return;
  field.value = String(number);
  field.form.requestSubmit();
}

export function actions() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-ask][type=button]");
    if (button && !button.hasAttribute("aria-busy")) press(button);
    const step = event.target.closest?.("button[data-step]");
    if (step) stepped(step);
    const toggled = event.target.closest?.("[data-toggle-all]");
    if (toggled) {
      for (const box of document.querySelectorAll(toggled.dataset.toggleAll)) box.checked = toggled.checked;
    }
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.ask) return;
    event.preventDefault();
    send(form, event.submitter);
  });
}
