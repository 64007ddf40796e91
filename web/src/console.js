// What every page needs: the choices of the header, keys, moments in local time. Everything is wired
// by attributes of the page; texts come from the page too, in its language.
import { choices } from "./choices.js";
import { shortcuts } from "./shortcuts.js";
import { times } from "./times.js";

choices();
shortcuts();
times();
