// The stream of a page: one connection for all of it that is live. A browser has six connections to a
// host for all its tabs, so that four of them at most are streams, told apart by locks; a hidden tab
// gives its own back. A page that gets no stream, or one that something on the way holds back, asks
// again every 5 s.
import { announce, inLanguage, text } from "./page.js";

const SLOTS = 4;
const POLL = 5000;
const FIRST = 6000; // the state comes at once: a stream that brings nothing is held back
const SILENCE = 40_000; // there is a sign of life each 15 s
const AGAIN = 30_000; // between two tries to have a stream that was held back

// One of the places for streams, as a function that gives it back; null when all are taken.
async function place() {
  if (!navigator.locks) return () => {};
  for (let number = 0; number < SLOTS; number += 1) {
    const free = await new Promise((resolve) => {
      navigator.locks.request(`nacre-stream-${number}`, { ifAvailable: true }, (lock) => {
        if (lock) return new Promise((giveBack) => resolve(giveBack));
        resolve(null);
        return undefined;
      });
    });
    if (free) return free;
  }
  return null;
}

function banner(words) {
  let line = document.getElementById("stale");
  if (!words) {
    line?.remove();
    return;
  }
  if (!line) {
    line = document.createElement("p");
    line.id = "stale";
    line.className = "notice notice-stale";
    document.getElementById("notices")?.before(line);
  }
  if (line.textContent !== words) line.textContent = words;
}

export class Stream {
  // `url()` names the stream, `take(event)` takes its messages, `header(html)` its header, `poll()`
  // asks for the same without a stream and tells whether there was an answer.
  constructor({ url, take, header, poll }) {
    Object.assign(this, { url, take, header, poll });
    this.source = null;
    this.giveBack = null;
    this.isOpening = false;
    this.isHeld = false; // by choice: the reader wants the page to stay as it is
    this.told = ""; // what the banner says: lost, polled or nothing
    this.last = Date.now(); // of what is shown
    this.retry = 0;
    this.isHeldBack = false; // a stream brought nothing
    this.polled = Date.now();
    document.addEventListener("visibilitychange", () => this.follow());
    addEventListener("pagehide", () => this.close());
    addEventListener("pageshow", () => this.follow());
    setInterval(() => this.tick(), 1000);
    this.follow();
  }

  // Have a stream, or none, as it is wanted now.
  async follow() {
    if (document.hidden || this.isHeld) {
      this.close();
      return;
    }
    if (this.source || this.isOpening || Date.now() < this.retry) return;
    this.isOpening = true;
    this.giveBack = await place();
    this.isOpening = false;
    if (document.hidden || this.isHeld) this.close();
    else if (this.giveBack) this.open();
  }

  open() {
    this.source = new EventSource(inLanguage(this.url()));
    this.opened = Date.now();
    this.heard = 0;
    this.source.addEventListener("message", (event) => {
      this.alive();
      this.take?.(event);
    });
    this.source.addEventListener("header", (event) => {
      this.alive();
      this.header?.(event.data);
    });
    this.source.addEventListener("beat", () => this.alive());
    this.source.addEventListener("over", () => location.reload());
    this.source.addEventListener("error", () => {
      const isRefused = this.source?.readyState === EventSource.CLOSED;
      this.close();
      this.retry = Date.now() + (isRefused ? POLL : 1000);
      this.polled = 0; // whether the console answers is known at once
    });
  }

  close() {
    this.source?.close();
    this.source = null;
    this.giveBack?.();
    this.giveBack = null;
  }

  alive() {
    this.heard = this.last = Date.now();
    this.tell("");
  }

  async tick() {
    if (document.hidden || this.isHeld) {
      this.polled = Date.now();
      return;
    }
    const now = Date.now();
    if (this.source && now - (this.heard || this.opened) > (this.heard ? SILENCE : FIRST)) {
      this.close();
      this.retry = now + AGAIN;
      this.isHeldBack = true;
      this.polled = 0;
    }
    if (!this.source) this.follow();
    if (this.source && this.heard) this.isHeldBack = false;
    if ((this.source && this.heard) || this.isPolling || now - this.polled < POLL) return;
    if (this.source && now - this.opened < FIRST) return;
    this.isPolling = true;
    const isAnswered = await this.poll();
    this.isPolling = false;
    this.polled = Date.now();
    if (this.source && this.heard) return;
    if (isAnswered) this.last = Date.now();
    this.tell(!isAnswered ? "lost" : this.isHeldBack ? "polled" : "");
  }

  // Say what became of the stream, once; the banner has the time of what is shown.
  tell(what) {
    const time = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "medium" });
    banner(what && text(what, { time: time.format(this.last) }));
    if (what === this.told) return;
    if (this.told === "lost") announce(text("live-again"));
    if (what === "lost") announce(text("lost-short"));
    this.told = what;
  }

  // The reader wants the page to stay as it is, or to go on.
  hold(isHeld) {
    this.isHeld = isHeld;
    this.follow();
  }
}
