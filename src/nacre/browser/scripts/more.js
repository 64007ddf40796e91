// Finds the next control that shows more of the same page, and says where to press it.
// Controls that lead to another page are links, and none of its business. `elements`: their number before.
({ words, again }) => {
  const elements = countElements();
  const opened = select("details:not([open])");
  if (opened.length) {
    for (const element of opened) {
      Element.prototype.setAttribute.call(element, "open", "");
    }
    return { elements, label: "details", opened: opened.length };
  }
  if (again && state.last?.isConnected && !has(state.last, "aria-expanded") && isVisible(state.last)) {
    return { elements, label: text(state.last, 60), ...(aim(state.last) ?? (press(state.last), {})) };
  }
  const patterns = words.map((word) => new RegExp(word, "iu"));
  const controls =
    "button, [role=button], summary, input[type=button], a:not([href]), a[href^='#'], a[href^='javascript:'], [aria-expanded=false]";
  const isHere = (element) =>
    !matches(element, ":disabled, [aria-disabled=true], [aria-haspopup], [type=submit], [target=_blank]") &&
    !(matches(element, "a[href]") && !/^(#|javascript:)/.test(attribute(element, "href"))) &&
    !(matches(element, "a[href^='#/'], a[href^='#!']")) &&
    !(closest(element, "form") && matches(element, "button:not([type])"));
  for (const element of selectDeep(controls)) {
    if (state.pressed.has(element) || !(element instanceof HTMLElement) || !isHere(element)) {
      continue;
    }
    const label = text(element, 80) || attribute(element, "aria-label")?.slice(0, 80) || attribute(element, "value")?.slice(0, 80) || "";
    if (attribute(element, "aria-expanded") !== "false" && !patterns.some((pattern) => pattern.test(label))) {
      continue;
    }
    if (!isVisible(element)) {
      continue;
    }
    state.pressed.add(element);
    state.last = element;
    return { elements, label: wellFormed(label, 60), ...(aim(element) ?? (press(element), {})) };
  }
  return null;
}
