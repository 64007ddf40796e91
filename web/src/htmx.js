// htmx; streams are our own (stream.js).
import htmx from "htmx.org/dist/htmx.esm.js";

export default htmx;

// What a reader opened stays open when a part of the page is sent again.
htmx.config.morphIgnore = [...htmx.config.morphIgnore, "open"];
