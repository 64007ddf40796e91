// The hash routes of this document that its links name; `go`: go to one of them.
({ limit, go }) => {
  if (typeof go === "string") {
    location.hash = go;
    if (go === "") {
      History.prototype.replaceState.call(history, null, "", location.href.replace(/#$/, ""));
    }
    return [];
  }
  const here = location.href.replace(/#.*$/s, "");
  const routes = new Set();
  for (const element of selectDeep("a[href]")) {
    if (element instanceof HTMLAnchorElement && routes.size < limit) {
      const url = getter(HTMLAnchorElement, "href")(element);
      const hash = url.startsWith(`${here}#`) ? url.slice(here.length) : "";
      if (/^#[/!]/.test(hash) && hash.length < 2000 && hash !== location.hash) {
        routes.add(wellFormed(hash, 2000));
      }
    }
  }
  return [...routes];
}
