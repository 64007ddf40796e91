// Keys: an element with data-key="g j" is followed, pressed or focused by these keys. `?` lists them.
import { keep, kept } from "./page.js";

const PATIENCE = 1500;

function isTyping(target) {
  return target.closest?.("input, select, textarea, [contenteditable], .cm-editor, dialog[open]");
}

function act(element) {
  if (element.matches("input, select, textarea")) {
    // In a narrow window it may be in a menu that is closed.
    if (!element.checkVisibility()) element.closest("[popover]")?.showPopover();
    element.focus();
    element.select?.();
  } else {
    element.click();
  }
}

function list(dialog) {
  const rows = dialog.querySelector("tbody");
  rows.replaceChildren();
  const seen = new Set();
  for (const element of document.querySelectorAll("[data-key]")) {
    if (seen.has(element.dataset.key)) continue;
    seen.add(element.dataset.key);
    const row = rows.insertRow();
    const keys = document.createElement("th");
    keys.scope = "row";
    element.dataset.key.split(" ").forEach((key, place) => {
      if (place) keys.append(" ");
      const shown = document.createElement("kbd");
      shown.textContent = key;
      keys.append(shown);
    });
    row.append(keys);
    row.insertCell().textContent =
      element.dataset.keyName ?? element.getAttribute("aria-label") ?? element.textContent.trim();
  }
}

export function shortcuts() {
  const dialog = document.getElementById("shortcuts");
  if (!dialog) return;
  const box = dialog.querySelector("input[type=checkbox]");
  box.checked = kept("shortcuts") !== "off";
  box.addEventListener("change", () => keep("shortcuts", box.checked ? "" : "off"));
  const open = () => {
    list(dialog);
    dialog.showModal();
  };
  document.getElementById("show-shortcuts")?.addEventListener("click", open);

  let typed = "";
  let last = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !box.checked) return;
    const now = event.timeStamp;
    typed = now - last < PATIENCE && typed ? `${typed} ${event.key}` : event.key;
    last = now;
    const found = document.querySelector(`[data-key="${CSS.escape(typed)}"]`);
    const isPrefix = document.querySelector(`[data-key^="${CSS.escape(typed)} "]`);
    if (found && !found.disabled) {
      event.preventDefault();
      typed = "";
      if (found.id === "show-shortcuts") open();
      else act(found);
    } else if (!isPrefix) {
      typed = "";
    }
  });
}
