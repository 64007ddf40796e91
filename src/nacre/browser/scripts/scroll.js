// One step of 0.8 viewport down; `largest`: of the largest element that scrolls within the page.
({ largest, home }) => {
  const scrollTop = getter(Element, "scrollTop");
  const scrollHeight = getter(Element, "scrollHeight");
  const clientHeight = getter(Element, "clientHeight");
  let target = scrollingElement(document) ?? documentElement(document);
  if (largest) {
    let area = 0;
    let best = null;
    for (const element of select("*")) {
      const size = clientHeight(element) * getter(Element, "clientWidth")(element);
      if (size > area && element !== target && scrollHeight(element) > clientHeight(element) + 20) {
        if (/auto|scroll/.test(getComputedStyle(element).overflowY)) {
          area = size;
          best = element;
        }
      }
    }
    target = best;
  }
  if (!target) {
    return { moved: 0, height: 0, elements: countElements() };
  }
  const before = scrollTop(target);
  const page = largest ? clientHeight(target) : innerHeight;
  const top = home ? -before : Math.max(1, Math.floor(page * 0.8));
  Element.prototype.scrollBy.call(target, { top, behavior: "instant" });
  return {
    moved: Math.round(Math.abs(scrollTop(target) - before)),
    height: Math.round(scrollHeight(target)),
    elements: countElements(),
  };
}
