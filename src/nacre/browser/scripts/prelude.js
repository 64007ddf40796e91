// Put before each script, in a world of its own. The page shares the document, and may put names on
// it and on its elements (<img name="body">), so that properties are read through the prototypes.
const state = (globalThis[Symbol.for("nacre")] ??= {
  errors: [],
  links: [],
  log: [],
  pressed: new WeakSet(),
  playing: [],
  routes: new Set(),
});

const getter = (type, name) => {
  const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
  return (object) => get.call(object);
};
const documentElement = getter(Document, "documentElement");
const body = getter(Document, "body");
const scrollingElement = getter(Document, "scrollingElement");
const shadowRoot = getter(Element, "shadowRoot");
const innerText = getter(HTMLElement, "innerText");
const parentElement = getter(Node, "parentElement");
const parentNode = getter(Node, "parentNode");

const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
const has = (element, name) => Element.prototype.hasAttribute.call(element, name);
const matches = (element, selector) => Element.prototype.matches.call(element, selector);
const closest = (element, selector) => Element.prototype.closest.call(element, selector);
const box = (element) => Element.prototype.getBoundingClientRect.call(element);
const press = (element) => HTMLElement.prototype.click.call(element);
const countElements = () => Document.prototype.getElementsByTagName.call(document, "*").length;

const select = (selector, root = document) => {
  const type = root instanceof Document ? Document : root instanceof Element ? Element : DocumentFragment;
  return type.prototype.querySelectorAll.call(root, selector);
};

// The document and its open shadow roots, at most `limit` of them.
const roots = (limit = 1000) => {
  const list = [document];
  for (let place = 0; place < list.length; place += 1) {
    for (const element of select("*", list[place])) {
      const root = shadowRoot(element);
      if (root && list.length < limit) {
        list.push(root);
      }
    }
  }
  return list;
};

const selectDeep = function* (selector) {
  for (const root of roots()) {
    yield* select(selector, root);
  }
};

const text = (element, limit = 200) =>
  (element instanceof HTMLElement ? innerText(element) : "")
    .slice(0, 4 * limit)
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, limit);

const isVisible = (element) => {
  const { width, height } = box(element);
  return (
    width > 1 &&
    height > 1 &&
    Element.prototype.checkVisibility.call(element, { opacityProperty: true, visibilityProperty: true })
  );
};

// Where a mouse would press an element; null if something else lies over it.
const aim = (element) => {
  Element.prototype.scrollIntoView.call(element, { block: "center", behavior: "instant" });
  const { left, top, width, height } = box(element);
  const [x, y] = [left + width / 2, top + height / 2];
  let target = Document.prototype.elementFromPoint.call(document, x, y);
  for (let root = target && shadowRoot(target); root; root = target && shadowRoot(target)) {
    const inner = ShadowRoot.prototype.elementFromPoint.call(root, x, y);
    if (!inner || inner === target) {
      break;
    }
    target = inner;
  }
  return target && Node.prototype.contains.call(element, target) ? { x, y } : null;
};

const wellFormed = (value, limit) => String(value).slice(0, limit).toWellFormed();
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
