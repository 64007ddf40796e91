// What every page needs: htmx with its streams, the choices of the header, keys, buttons, times.
// Everything is wired by attributes of the page; texts come from the page too, in its language.
import "./htmx.js";
import { actions } from "./actions.js";
import { choices } from "./choices.js";
import { live } from "./live.js";
import { shortcuts } from "./shortcuts.js";
import { tables } from "./tables.js";
import { times } from "./times.js";
import { unsaved } from "./unsaved.js";

// Modules that few pages need are loaded by those.
function load() {
  if (document.querySelector("[data-chart]")) import("./charts.js");
  if (document.querySelector("[data-log]")) import("./log.js");
  if (document.querySelector("[data-editor]")) import("./editor.js");
}

// A link to a part of the administration, as older ones are, leads to the view that has the part.
function oldLinks() {
  const part = location.hash.slice(1);
  const links = [...document.querySelectorAll(".views a[data-parts]")];
  const link = links.find((one) => one.dataset.parts.split(" ").includes(part));
  if (link && link.pathname !== location.pathname) location.replace(link.href);
}

oldLinks();
choices();
shortcuts();
actions();
tables();
live();
times();
unsaved();
load();
document.addEventListener("htmx:after:swap", () => {
  times();
  load();
});
