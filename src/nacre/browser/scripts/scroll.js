// Steps of 0.8 viewport down, until there is no more, at `most` steps, or for a time; `largest`: of the
// largest element that scrolls within the page; `home`: one step to its top.
async ({ largest, home, most, milliseconds }) => {
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
    return { steps: 0, bottom: true, height: 0, elements: countElements() };
  }
  const end = performance.now() + (milliseconds ?? 0);
  let steps = 0;
  let bottom = false;
  do {
    const before = scrollTop(target);
    const page = largest ? clientHeight(target) : innerHeight;
    const top = home ? -before : Math.max(1, Math.floor(page * 0.8));
    Element.prototype.scrollBy.call(target, { top, behavior: "instant" });
    bottom = Math.round(Math.abs(scrollTop(target) - before)) === 0;
    if (!bottom) {
      steps += 1;
      if (!home) {
        await pause(60);
      }
    }
  } while (!bottom && !home && steps < most && performance.now() < end);
  return { steps, bottom, height: Math.round(scrollHeight(target)), elements: countElements() };
}
