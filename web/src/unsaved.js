// The warning before a page is left with text that is not saved. The browser words it.
// A form that changes something (`<form method="post">`, or with `data-ask`) is unsaved if a field
// differs from what the page came with, or if the page says so by `data-unsaved`: its text was sent
// once and refused, or only checked. A form with `data-takes-all` saves what the others show.

// Fields of settings have what they had before beside them: `v:NAME` has `o:NAME`.
const BEFORE = { "v:": "o:", "f:": "g:" };
const FORMS = 'main form:is([method="post"], [data-ask]):not([hx-post])';
const NO_TEXT = new Set(["button", "checkbox", "file", "hidden", "image", "password", "radio", "reset", "search", "submit"]);

const settled = new WeakSet(); // what was typed in these was taken
let sent = null; // the form whose answer replaces this page

function isText(field) {
  return field.tagName === "TEXTAREA" || (field.tagName === "INPUT" && !NO_TEXT.has(field.type));
}

function before(field) {
  const prefix = BEFORE[field.name.slice(0, 2)];
  return prefix && field.form.elements.namedItem(prefix + field.name.slice(2))?.value;
}

function differs(field) {
  if (field.disabled || field.readOnly || !field.name) return false;
  const old = before(field);
  if (old !== undefined) return field.value.trim() !== old.trim();
  if (field.tagName === "SELECT") {
    const first = [...field.options].find((one) => one.defaultSelected) ?? field.options[0];
    return field.value !== (first?.value ?? "");
  }
  if (field.type === "file") return field.files.length > 0;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  return isText(field) && field.value !== field.defaultValue;
}

// Choices alone, such as marks in a list, are no text that somebody wrote.
function isUnsaved(form) {
  if (form === sent || "takesAll" in (sent?.dataset ?? {}) || settled.has(form)) return false;
  if ("unsaved" in form.dataset) return true;
  const fields = [...form.elements];
  return fields.some(isText) && fields.some(differs);
}

// The fields of a form were taken, without a new page.
export function settle(form) {
  settled.add(form);
  delete form.dataset.unsaved;
}

export function unsaved() {
  window.addEventListener("submit", (event) => {
    sent = event.defaultPrevented ? null : event.target;
  });
  document.addEventListener("click", () => {
    sent = null; // the page is still here
  }, true);
  document.addEventListener("input", (event) => {
    sent = null;
    settled.delete(event.target.form);
  });
  window.addEventListener("beforeunload", (event) => {
    if ([...document.querySelectorAll(FORMS)].some(isUnsaved)) event.preventDefault();
  });
}
