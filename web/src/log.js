// The tail of a log: `<div data-log="URL of a stream of rows" data-seen="place">` around a table.
// New rows come at the end while the end is in view; else they wait, and a button tells how many.
// Only the last rows stay in the page: the older ones are on pages of their own. A hidden tab has no
// stream; it goes on from its place when it is seen again.
import { text } from "./page.js";

const MOST = 1000;
const AGAIN = 5000;
const NEAR = 40;

class Tail {
  constructor(box) {
    this.box = box;
    this.rows = box.querySelector("tbody");
    this.seen = box.dataset.seen;
    this.held = [];
    this.isStopped = false;
    this.more = document.getElementById(box.dataset.more);
    this.stop = document.getElementById(box.dataset.stop);
    this.more?.addEventListener("click", () => this.release());
    this.stop?.addEventListener("click", () => this.toggle());
    box.addEventListener("scroll", () => {
      if (this.isAtEnd()) this.release();
    });
    document.addEventListener("visibilitychange", () => this.follow());
    box.scrollTop = box.scrollHeight;
    this.follow();
  }

  isAtEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR;
  }

  toggle() {
    this.isStopped = !this.isStopped;
    this.stop.setAttribute("aria-pressed", String(this.isStopped));
    this.follow();
  }

  follow() {
    clearTimeout(this.timer);
    this.stream?.close();
    if (document.hidden || this.isStopped) return;
    const url = new URL(this.box.dataset.log, location.href);
    url.searchParams.set("seen", this.seen);
    this.stream = new EventSource(url);
    this.stream.addEventListener("message", (event) => this.take(event));
    // The browser tries again by itself, unless the answer was a refusal.
    this.stream.addEventListener("error", () => {
      if (this.stream.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.follow(), AGAIN);
    });
  }

  take(event) {
    if (event.lastEventId) this.seen = event.lastEventId;
    const table = new DOMParser().parseFromString(event.data, "text/html").querySelector("table");
    if (!table) return;
    const isAtEnd = this.isAtEnd();
    if ("anew" in table.dataset) {
      this.rows.replaceChildren();
      this.held = [];
    }
    this.held.push(...table.querySelectorAll("tbody > tr"));
    if (this.held.length > MOST) this.held.splice(0, this.held.length - MOST);
    if (isAtEnd) this.release();
    else this.tell();
  }

  tell() {
    if (!this.more) return;
    this.more.hidden = this.held.length === 0;
    this.more.textContent = text("new-lines", { count: this.held.length });
  }

  release() {
    if (this.held.length) {
      this.rows.append(...this.held.splice(0));
      while (this.rows.rows.length > MOST) this.rows.deleteRow(0);
    }
    this.tell();
    this.box.scrollTop = this.box.scrollHeight;
  }
}

for (const box of document.querySelectorAll("[data-log]:not([data-tailing])")) {
  box.dataset.tailing = "";
  new Tail(box);
}

// What has the focus or the pointer is explained in words.
const line = document.getElementById("explained");
for (const kind of ["focusin", "pointerover"]) {
  document.addEventListener(kind, (event) => {
    const told = event.target.closest?.("[data-explain]");
    if (told && line) line.textContent = told.dataset.explain;
  });
}
