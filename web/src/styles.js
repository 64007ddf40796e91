// The package style-mod, through which CodeMirror brings its styles: they become a style sheet of the
// document, because the policy of the pages allows no <style> elements. It is a layer, so that the
// rules of console.css come before it.
import { StyleModule } from "../node_modules/style-mod/src/style-mod.js";

let sheet = null;
let known = [];

StyleModule.mount = (root, modules) => {
  const added = Array.isArray(modules) ? modules : [modules];
  if (added.every((one) => known.includes(one))) return;
  known = [...known.filter((one) => !added.includes(one)), ...added];
  sheet ??= new CSSStyleSheet();
  sheet.replaceSync(`@layer editor { ${known.map((one) => one.getRules()).join("\n")} }`);
  const document = root.ownerDocument ?? root;
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
};

export { StyleModule };
