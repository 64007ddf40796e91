// The share of the viewport, in thousandths, that dialogs cover: of 20 by 20 points, those whose element lies in one.
() => {
  const words = /consent|cookie|gdpr|modal|dialog|overlay|popup|paywall|interstitial|lightbox/i;
  const all = text(body(document), 20000).length;
  const known = new Map();
  const isDialog = (element) => {
    const style = getComputedStyle(element);
    if (matches(element, "dialog[open], [aria-modal=true], [role=dialog], [role=alertdialog]")) {
      return true;
    }
    if (style.position !== "fixed") {
      return false;
    }
    const name = `${attribute(element, "id") ?? ""} ${attribute(element, "class") ?? ""}`;
    return words.test(name) || (Number(style.zIndex) >= 100 && text(element, 20000).length < all / 2);
  };
  const isCovered = (element) => {
    const path = [];
    let covered = false;
    for (let node = element; node; node = parentNode(node) ?? (node instanceof ShadowRoot ? getter(ShadowRoot, "host")(node) : null)) {
      if (!(node instanceof Element)) {
        continue;
      }
      if (known.has(node)) {
        covered = known.get(node);
        break;
      }
      path.push(node);
      if (isDialog(node)) {
        covered = true;
        break;
      }
    }
    path.forEach((node) => known.set(node, covered));
    return covered;
  };
  let points = 0;
  for (let row = 0; row < 20; row += 1) {
    for (let column = 0; column < 20; column += 1) {
      const element = Document.prototype.elementFromPoint.call(
        document,
        ((column + 0.5) / 20) * innerWidth,
        ((row + 0.5) / 20) * innerHeight,
      );
      points += element && isCovered(element) ? 1 : 0;
    }
  }
  return Math.round((1000 * points) / 400);
}
