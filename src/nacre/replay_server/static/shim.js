// What an archived page runs first: its time, its storage, its URLs, and what is off in an archive.
//
// SPDX-License-Identifier: Apache-2.0
//
// It makes pages work; it guards nothing. A page can undo it, and then gets what the policy of its
// reply allows: requests to this origin, which the worker (sw.js) answers from the archive.
//
// To the viewer, from the page in its frame, by `postMessage`; frames in the page pass theirs on to
// it. The viewer shows them as text and must not trust them, because a page can send them too
//   { nacre: "page", url, timestamp, title }: a page was loaded in the frame of the viewer.
//   { nacre: "missing", url, timestamp }: see sw.js.
//   { nacre: "blocked", url, directive }: the policy refused a request to the live web.
// `location` cannot be replaced: what scripts compare with it, such as `a.href` and
// `document.baseURI`, stays a URL of replay as well.
(() => {
  const { timestamp, url, cookies: received = "" } = document.currentScript.dataset;
  const here = new URL(url);
  const base = () => document.baseURI;
  const root = "";
  /* shared.js */
  const inSet = (value) => String(value).replace(/(^|,\s+)([^\s,]\S*)/g, (_, a, b) => a + replay(b));
  const inStyle = (value) =>
    String(value).replace(
      /(url\(\s*["']?|@import\s*["'])((?:https?:)?\/[^"')]*)/gi, (_, a, b) => a + replay(b));
  // Only in tags: a text may show markup.
  const inMarkup = (value) => value === null ? value
    : String(value).replace(/<[a-z](?:"[^"]*"|'[^']*'|[^"'>])*>/gi, (tag) => tag.replace(
      /(\s(?:src|href|action|poster|data)\s*=\s*["']?)((?:https?:)?\/[^"'\s>]*)/gi,
      (_, a, b) => a + replay(b)));
  const kinds = {
    __proto__: null,
    src: replay, href: replay, action: replay, formaction: replay, poster: replay, data: replay,
    "xlink:href": replay, srcset: inSet, imagesrcset: inSet, style: inStyle, srcdoc: inMarkup,
  };
  const changed = (element, name, value) => {
    const key = String(name).toLowerCase();
    const change = key !== "data" || element.localName === "object" ? kinds[key] : null;
    return change?.(value) ?? value;
  };

  // Attributes and markup that scripts set.
  const setter = (type, name, change) => {
    const { get, set } = Object.getOwnPropertyDescriptor(type.prototype, name) ?? {};
    if (set) define(type.prototype, name, get, function (value) { set.call(this, change(value)); });
  };
  for (const type of ["Image", "Script", "Link", "IFrame", "Frame", "Media", "Source", "Track",
    "Video", "Input", "Button", "Form", "Anchor", "Area", "Object", "Embed", "Base"]) {
    for (const name of ["src", "href", "srcset", "poster", "action", "formAction", "data"]) {
      const change = kinds[name.toLowerCase()];
      setter(window[`HTML${type}Element`], name, change);
    }
  }
  for (const name of ["setAttribute", "setAttributeNS"]) {
    wrap(Element.prototype, name, function (real, ...values) {
      const [key, value] = values.slice(-2);
      return real(...values.slice(0, -1), changed(this, key, value));
    });
  }
  setter(Element, "innerHTML", inMarkup);
  setter(Element, "outerHTML", inMarkup);
  wrap(Element.prototype, "insertAdjacentHTML", (real, where, text) => real(where, inMarkup(text)));
  wrap(Range.prototype, "createContextualFragment", (real, text) => real(inMarkup(text)));
  for (const name of ["write", "writeln"]) {
    wrap(Document.prototype, name, (real, ...texts) => real(inMarkup(texts.join(""))));
  }
  wrap(CSSStyleSheet.prototype, "insertRule", (real, rule, at) => real(inStyle(rule), at));
  const repair = (element) => {
    for (const name of Object.keys(kinds)) {
      const value = element.getAttribute?.(name);
      if (value && /^\/|\/\//.test(value) && changed(element, name, value) !== value) {
        element.setAttribute(name, value);
      }
    }
    if (element.localName === "style" && inStyle(element.textContent) !== element.textContent) {
      element.textContent = inStyle(element.textContent);
    }
  };
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === "attributes" || target.localName === "style") repair(target);
      for (const node of addedNodes) {
        if (node.nodeType === 1) [node, ...node.querySelectorAll("*")].forEach(repair);
      }
    }
  }).observe(document, {
    subtree: true, childList: true, attributes: true, attributeFilter: Object.keys(kinds),
  });

  window.Audio = new Proxy(Audio, {
    construct: (real, values) => new real(...values.map(replay)),
  });

  // Chance, as for a page that was captured in a browser: its scripts make the same URLs again.
  // Source: wombat of pywb, whose seed is the second of the capture.
  let chance = Math.floor(Date.UTC(year, month - 1, ...clock) / 1000);
  Math.random = () => {
    chance = (9301 * chance + 49297) % 233280;
    return chance / 233280;
  };

  // Storage, by archived host.
  const partition = (real) => {
    const keys = () => Object.keys(real).filter((key) => key.startsWith(mark))
      .map((key) => key.slice(mark.length));
    const api = {
      getItem: (key) => real.getItem(mark + key),
      setItem: (key, value) => real.setItem(mark + key, value),
      removeItem: (key) => real.removeItem(mark + key),
      clear: () => keys().forEach(api.removeItem),
      key: (at) => keys()[at] ?? null,
      get length() { return keys().length; },
    };
    const has = (key) => typeof key === "string" && api.getItem(key) !== null;
    return new Proxy(api, {
      get: (_, key) => (key in api ? api[key] : has(key) ? api.getItem(key) : undefined),
      set: (_, key, value) => (api.setItem(key, value), true),
      has: (_, key) => key in api || has(key),
      deleteProperty: (_, key) => (api.removeItem(key), true),
      ownKeys: keys,
      getOwnPropertyDescriptor: (_, key) => (has(key)
        ? { value: api.getItem(key), enumerable: true, configurable: true, writable: true }
        : undefined),
    });
  };
  for (const name of ["localStorage", "sessionStorage"]) {
    try {
      const part = partition(window[name]);
      define(window, name, () => part);
    } catch { /* a frame without an origin has none */ }
  }
  const cookies = new Map();
  const keep = (text) => {
    const [, name, value] = /^\s*([^=;]*)=?([^;]*)/.exec(text);
    const old = /;\s*(max-age=(0|-)|expires=[^;]*)/i.exec(text)?.[1];
    const isOver = old && !(Date.parse(old.slice(8)) > Date.now());
    if (isOver) cookies.delete(name.trim());
    else cookies.set(name.trim(), value.trim());
  };
  received.split("\n").filter(Boolean).forEach(keep);
  define(Document.prototype, "cookie",
    () => [...cookies].map((pair) => pair.join("=")).join("; "), keep);

  // The page about itself.
  define(Document.prototype, "URL", () => here.href + location.hash);
  define(Document.prototype, "documentURI", () => here.href + location.hash);
  define(Document.prototype, "domain", () => here.hostname, () => {});
  const from = /\/\d{1,14}mp_\/(.*)/.exec(document.referrer)?.[1] ?? "";
  const referrer = from === here.href ? "" : from; // a page that was loaded again for the worker
  define(Document.prototype, "referrer", () => referrer);

  // Navigation. Frames of a sandbox cannot lead each other, so they ask.
  let outer = window;
  const isWithin = (frame) => {
    try {
      return Boolean(frame.document);
    } catch {
      return false;
    }
  };
  while (outer !== outer.parent && isWithin(outer.parent)) outer = outer.parent;
  const viewer = window.parent;
  if (window === outer) define(window, "parent", () => window, () => {});
  const named = (name, frame) => {
    if (!isWithin(frame)) return null;
    if (frame.name === name) return frame;
    for (let at = 0; at < frame.length; at++) {
      const inner = named(name, frame[at]);
      if (inner) return inner;
    }
    return null;
  };
  const lead = (to, name) => {
    const frame = name === "_parent" && window !== outer ? parent : named(name, outer) ?? outer;
    frame.postMessage({ nacre: "lead", url: new URL(replay(to), document.baseURI).href }, own);
  };
  addEventListener("message", (event) => {
    if (event.data?.nacre !== "lead" || event.origin !== own) return;
    event.stopImmediatePropagation();
    location.assign(replay(event.data.url));
  });
  window.open = (to, name) => {
    if (to) lead(to, name);
    return null;
  };
  addEventListener("click", (event) => {
    const link = event.composedPath().find((node) => /^(a|area)$/i.test(node.localName));
    const name = link?.target || (link && document.querySelector("base[target]")?.target);
    if (!name || !link.href || event.defaultPrevented || /^(_self|javascript:.*)$/.test(name)) return;
    if (name === window.name || /^javascript:/i.test(link.href)) return;
    event.preventDefault();
    lead(link.href, name);
  });
  addEventListener("submit", ({ target }) => {
    if (target.target) target.target = "_self";
  });
  window.navigation?.addEventListener("navigate", (event) => {
    const to = replay(event.destination.url);
    if (to === event.destination.url || !event.cancelable || event.formData) return;
    event.preventDefault();
    location.assign(to);
  });
  for (const name of ["pushState", "replaceState"]) {
    wrap(History.prototype, name, (real, state, title, to) => {
      try {
        real(state, title, to == null ? to : replay(to));
      } catch { /* a page of another origin was meant */ }
    });
  }

  Navigator.prototype.sendBeacon = () => true;
  const workers = navigator.serviceWorker;
  const tell = (facts) => {
    if (window !== outer) outer.postMessage(facts, own);
    else if (viewer !== window) viewer.postMessage(facts, "*");
  };
  addEventListener("message", (event) => {
    if (event.origin !== own || !["missing", "blocked"].includes(event.data?.nacre)) return;
    event.stopImmediatePropagation();
    tell(event.data);
  });
  workers?.addEventListener("message", (event) => {
    if (event.data?.nacre !== "missing") return;
    event.stopImmediatePropagation();
    tell(event.data);
  });
  workers?.startMessages();
  const container = window.ServiceWorkerContainer?.prototype;
  const never = new Promise(() => {});
  if (container) {
    container.register = () => never;
    container.getRegistration = async () => undefined;
    container.getRegistrations = async () => [];
    define(container, "ready", () => never);
    define(container, "controller", () => null);
  }

  addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) =>
    tell({ nacre: "blocked", url: blockedURI, directive: effectiveDirective }));
  const { title } = Object.getOwnPropertyDescriptors(Document.prototype);
  const loaded = () =>
    window === outer && tell({ nacre: "page", url, timestamp, title: title.get.call(document) });
  addEventListener("DOMContentLoaded", loaded);
  addEventListener("pageshow", loaded);
})();
