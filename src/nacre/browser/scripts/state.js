// Where the page is and how large it is.
() => {
  const root = scrollingElement(document) ?? documentElement(document);
  return {
    url: wellFormed(location.href, 65536),
    elements: countElements(),
    height: root ? Math.round(getter(Element, "scrollHeight")(root)) : 0,
  };
}
