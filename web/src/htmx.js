// htmx and its extension for streams, which looks for it in the window.
import htmx from "htmx.org/dist/htmx.esm.js";
import "htmx.org/dist/ext/hx-sse.js";

export default htmx;

// What a reader opened stays open when a part of the page is sent again.
htmx.config.morphIgnore = [...htmx.config.morphIgnore, "open"];
