// The tail of a log: `<div data-log="URL of a stream of rows" data-seen="place">` around a table.
// New rows come at the end while the end is in view; else they wait, and a button tells how many.
// Only the last rows stay in the page: the older ones are on pages of their own. A hidden tab has no
// stream; it goes on from its place when it is seen again.
import { text } from "./page.js";
import { Stream } from "./stream.js";
import { times } from "./times.js";

const MOST = 1000;
const NEAR = 40;

// The rest of the page takes the numbers of its header.
function header(html) {
  document.dispatchEvent(new CustomEvent("nacre:header", { detail: html }));
}

class Tail {
  constructor(box) {
    this.box = box;
    this.rows = box.querySelector("tbody");
    this.seen = box.dataset.seen;
    this.held = [];
    this.more = document.getElementById(box.dataset.more);
    this.stop = document.getElementById(box.dataset.stop);
    this.more?.addEventListener("click", () => this.release());
    this.stop?.addEventListener("click", () => this.toggle());
    box.addEventListener("scroll", () => {
      if (this.isAtEnd()) this.release();
    });
    box.scrollTop = box.scrollHeight;
    this.stream = new Stream({
      url: () => this.url(),
      take: (event) => this.take(event),
      header,
      poll: () => this.poll(),
    });
  }

  isAtEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR;
  }

  toggle() {
    const isStopped = this.stop.getAttribute("aria-pressed") !== "true";
    this.stop.setAttribute("aria-pressed", String(isStopped));
    this.stream.hold(isStopped);
  }

  url() {
    const url = new URL(this.box.dataset.log, location.href);
    url.searchParams.set("seen", this.seen);
    return url;
  }

  // Without a stream: the page is asked for again, and has its last lines.
  async poll() {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) return false;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const box = page.querySelector("[data-log]");
      header(page.getElementById("pulse")?.innerHTML ?? "");
      if (box) this.add(box.querySelector("table"), box.dataset.seen, (offset) => offset >= this.end());
      return true;
    } catch {
      return false;
    }
  }

  // The byte behind the lines that the page has.
  end() {
    return Number(this.seen.split("-")[1] ?? 0);
  }

  take(event) {
    const table = new DOMParser().parseFromString(event.data, "text/html").querySelector("table");
    if (table) this.add(table, event.lastEventId || this.seen, () => true);
  }

  add(table, seen, isNew) {
    const isOther = seen.split("-")[0] !== this.seen.split("-")[0];
    times(table);
    const rows = [...table.querySelectorAll("tbody > tr")];
    const found = isOther ? rows : rows.filter((row) => isNew(Number(row.dataset.offset)));
    this.seen = seen;
    const isAtEnd = this.isAtEnd();
    if ("anew" in table.dataset || isOther) {
      this.rows.replaceChildren();
      this.held = [];
    }
    this.held.push(...found);
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
