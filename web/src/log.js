// The tail of a log: `<div data-log="URL of the rows behind ?after=" data-offset=…>` around a table.
// New rows come at the end while the end is in view; else they wait, and a button tells how many.
// Only the last rows stay in the page: the older ones are on pages of their own.
import { text } from "./page.js";

const MOST = 1000;
const EACH = 1000;
const NEAR = 40;

class Tail {
  constructor(box) {
    this.box = box;
    this.rows = box.querySelector("tbody");
    this.offset = box.dataset.offset;
    this.held = [];
    this.isStopped = false;
    this.more = document.getElementById(box.dataset.more);
    this.stop = document.getElementById(box.dataset.stop);
    this.more?.addEventListener("click", () => this.release());
    this.stop?.addEventListener("click", () => this.toggle());
    box.addEventListener("scroll", () => {
      if (this.isAtEnd()) this.release();
    });
    document.addEventListener("visibilitychange", () => this.next());
    box.scrollTop = box.scrollHeight;
    this.next();
  }

  isAtEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < NEAR;
  }

  toggle() {
    this.isStopped = !this.isStopped;
    this.stop.setAttribute("aria-pressed", String(this.isStopped));
    this.next();
  }

  next() {
    clearTimeout(this.timer);
    if (document.hidden || this.isStopped) return;
    this.timer = setTimeout(() => this.look(), EACH);
  }

  async look() {
    try {
      const url = new URL(this.box.dataset.log, location.href);
      url.searchParams.set("after", this.offset);
      const answer = await fetch(url, { headers: { Accept: "text/html" } });
      if (answer.ok) this.take(await answer.text());
    } catch {
      // The console does not answer now; the next look may.
    }
    this.next();
  }

  take(page) {
    const fresh = new DOMParser().parseFromString(page, "text/html").querySelector("[data-log]");
    if (!fresh) return;
    this.offset = fresh.dataset.offset;
    const isAtEnd = this.isAtEnd();
    this.held.push(...fresh.querySelectorAll("tbody > tr"));
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
      document.dispatchEvent(new Event("htmx:after:swap"));
    }
    this.tell();
    this.box.scrollTop = this.box.scrollHeight;
  }
}

for (const box of document.querySelectorAll("[data-log]:not([data-tailing])")) {
  box.dataset.tailing = "";
  new Tail(box);
}
