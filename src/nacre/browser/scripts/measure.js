// Serialises the document with its open shadow roots, and says how long it is; `take` returns it.
({ maxElements, wantsText }) => {
  state.dom = "";
  state.text = "";
  const element = documentElement(document);
  if (element && countElements() <= maxElements) {
    const shadowRoots = roots().slice(1);
    const copy = Node.prototype.cloneNode.call(element, false);
    const [start, end] = getter(Element, "outerHTML")(copy).split("></");
    const type = getter(Document, "doctype")(document);
    const inner = Element.prototype.getHTML.call(element, { shadowRoots });
    const prolog = type ? new XMLSerializer().serializeToString(type) : "";
    state.dom = `${prolog}${start}>${inner}</${end ?? "html>"}`.toWellFormed();
  }
  if (wantsText) {
    const parts = [];
    const top = body(document);
    if (top instanceof HTMLElement) {
      parts.push(innerText(top));
    }
    for (const root of roots().slice(1)) {
      for (const child of getter(DocumentFragment, "children")(root)) {
        if (child instanceof HTMLElement && !(child instanceof HTMLStyleElement)) {
          parts.push(innerText(child));
        }
      }
    }
    state.text = parts.join("\n").toWellFormed();
  }
  const utf8 = (string) => new TextEncoder().encode(string).length;
  return {
    url: wellFormed(location.href, 65536),
    title: wellFormed(getter(Document, "title")(document), 1000),
    dom: utf8(state.dom),
    text: state.text.length,
    errors: state.errors,
  };
}
