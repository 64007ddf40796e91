// Asks for pictures that the page would ask for later, or on another screen: `data-src`, all
// candidates of `srcset`, and pictures of style rules for other media. Returns their number.
({ limit }) => {
  const urls = new Set();
  const add = (value) => {
    try {
      const url = new URL(value, getter(Node, "baseURI")(document));
      if (/^https?:$/.test(url.protocol) && value.length < 4096 && urls.size < limit) {
        urls.add(url.href);
      }
    } catch {
      // Not a URL
    }
  };
  const addCandidates = (value) => {
    for (const [, url] of value.slice(0, 65536).matchAll(/(?:^|,|\s)\s*([^\s,][^\s]*[^\s,])/g)) {
      if (!/^[\d.]+[wxh]$/.test(url)) {
        add(url);
      }
    }
  };
  const looksLikeUrl = (value) => /^(https?:|\.{0,2}\/|[\w-]+\/)|\.(avif|gif|jpe?g|png|svg|webp)(\?|$)/i.test(value);
  const names = ["data-src", "data-original", "data-lazy-src", "data-lazy", "data-bg", "data-background", "data-poster"];
  for (const element of selectDeep("*")) {
    for (const name of names) {
      const value = attribute(element, name);
      if (value && looksLikeUrl(value)) {
        add(value);
      }
    }
    for (const name of ["srcset", "data-srcset", "data-lazy-srcset", "imagesrcset"]) {
      const value = attribute(element, name);
      if (value) {
        addCandidates(value);
      }
    }
    if (element instanceof HTMLImageElement && attribute(element, "loading") === "lazy") {
      HTMLImageElement.prototype.setAttribute.call(element, "loading", "eager");
    }
  }
  const walk = (rules, isOther, depth) => {
    for (const rule of rules) {
      if (rule instanceof CSSStyleRule) {
        if (isOther) {
          for (const [, , url] of rule.cssText.slice(0, 65536).matchAll(/url\((["']?)([^"')]+)\1\)/g)) {
            add(url);
          }
        }
      } else if (rule.cssRules && depth < 5) {
        const media = rule instanceof CSSMediaRule ? rule.media.mediaText : "";
        walk(rule.cssRules, isOther || (media !== "" && !matchMedia(media).matches), depth + 1);
      }
    }
  };
  for (const sheet of getter(Document, "styleSheets")(document)) {
    try {
      walk(sheet.cssRules, sheet.media.mediaText !== "" && !matchMedia(sheet.media.mediaText).matches, 0);
    } catch {
      // A style sheet of another origin
    }
  }
  state.images = [...urls].map((url) => {
    const image = new Image();
    image.src = url;
    return image;
  });
  return urls.size;
}
