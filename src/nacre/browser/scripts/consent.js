// Finds the dialog that asks for consent, and says where to press it.
({ dialogs, words, accept }) => {
  const answer = (name, element) => {
    state.pressed.add(element);
    return { name, label: text(element, 60), ...(aim(element) ?? (press(element), {})) };
  };
  const first = (selector) => {
    for (const element of selectDeep(selector)) {
      if (element instanceof HTMLElement && isVisible(element) && !state.pressed.has(element)) {
        return element;
      }
    }
    return null;
  };
  for (const { name, dialog, reject, agree } of dialogs) {
    // The host of a shadow root may have no size, so that the button decides
    if (!selectDeep(dialog).next().done) {
      const element = first(accept ? agree : reject);
      if (element) {
        return answer(name, element);
      }
    }
  }
  // Any other dialog of a page that declares the interface of the TCF: by the words on its buttons
  if (select("iframe[name=__tcfapiLocator], [id*=consent i], [class*=consent i], [id*=cookie i]").length) {
    const patterns = words.map((word) => new RegExp(word, "iu"));
    const isAsking = (element) => {
      for (let node = element; node; node = parentElement(node)) {
        if (matches(node, "dialog, [role=dialog], [role=alertdialog], [aria-modal=true]") || /fixed|sticky/.test(getComputedStyle(node).position)) {
          return true;
        }
      }
      return false;
    };
    for (const element of selectDeep("button, [role=button], input[type=button], a[href^='#'], a:not([href])")) {
      const label = text(element, 80) || attribute(element, "value")?.slice(0, 80) || "";
      if (label && patterns.some((pattern) => pattern.test(label)) && isVisible(element) && isAsking(element) && !state.pressed.has(element)) {
        return answer("dialog", element);
      }
    }
  }
  return null;
}
