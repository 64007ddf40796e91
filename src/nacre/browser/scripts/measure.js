// Serialises the document with its open shadow roots; what is longer than its limit is not returned.
({ maxElements, maxDom, maxText }) => {
  let dom = "";
  let text = "";
  const element = documentElement(document);
  const shadowRoots = roots().slice(1);
  if (element && countElements() <= maxElements) {
    const copy = Node.prototype.cloneNode.call(element, false);
    const [start, end] = getter(Element, "outerHTML")(copy).split("></");
    const type = getter(Document, "doctype")(document);
    const inner = Element.prototype.getHTML.call(element, { shadowRoots });
    const prolog = type ? new XMLSerializer().serializeToString(type) : "";
    dom = `${prolog}${start}>${inner}</${end ?? "html>"}`.toWellFormed();
  }
  if (maxText) {
    const parts = [];
    const top = body(document);
    if (top instanceof HTMLElement) {
      parts.push(innerText(top));
    }
    for (const root of shadowRoots) {
      for (const child of getter(DocumentFragment, "children")(root)) {
        if (child instanceof HTMLElement && !(child instanceof HTMLStyleElement)) {
          parts.push(innerText(child));
        }
      }
    }
    text = parts.join("\n").slice(0, maxText).toWellFormed();
  }
  const isShort = 3 * dom.length <= maxDom || new TextEncoder().encode(dom).length <= maxDom;
  return {
    url: wellFormed(location.href, 65536),
    title: wellFormed(getter(Document, "title")(document), 1000),
    dom: isShort ? dom : "",
    text,
    errors: state.errors,
  };
}
