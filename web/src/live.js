// Regions that are live: `<div data-live hx-sse:connect=… hx-swap="innerMorph">`. The server sends
// the whole region when it changed, and the event `beat` in between. htmx closes the stream of a
// hidden tab. When the stream is lost a line says so and the page is asked for again every 5 s.
import htmx from "./htmx.js";
import { announce, text } from "./page.js";

const POLL = 5000;
const SILENCE = 40_000;

function banner() {
  let line = document.getElementById("stale");
  if (!line) {
    line = document.createElement("p");
    line.id = "stale";
    line.className = "notice notice-stale";
    document.getElementById("notices")?.before(line);
  }
  return line;
}

class Region {
  constructor(element) {
    this.element = element;
    this.last = Date.now();
    this.isLost = false;
    element.addEventListener("htmx:sse:after:connection", () => this.alive());
    element.addEventListener("htmx:sse:before:message", () => this.alive());
    element.addEventListener("htmx:sse:error", () => this.lost());
    element.addEventListener("htmx:error", () => this.lost());
    setInterval(() => this.tick(), POLL);
  }

  alive() {
    this.last = Date.now();
    if (!this.isLost) return;
    this.isLost = false;
    document.getElementById("stale")?.remove();
    announce(text("live-again"));
  }

  lost() {
    if (this.isLost || document.hidden) return;
    this.isLost = true;
    const time = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "medium" });
    banner().textContent = text("lost", { time: time.format(this.last) });
    announce(text("lost-short"));
  }

  async tick() {
    if (document.hidden) {
      this.last = Date.now();
      return;
    }
    if (Date.now() - this.last > SILENCE) this.lost();
    if (this.isLost) await this.poll();
  }

  async poll() {
    await renew(this.element.id);
  }
}

// Ask for the page again, and take the part of an id from it. Whether that could be done.
async function renew(id) {
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const [fresh, target] = [page.getElementById(id), document.getElementById(id)];
    if (!fresh || !target) return false;
    await htmx.swap({ target, text: fresh.innerHTML, swap: "innerMorph", sourceElement: target });
    return true;
  } catch {
    return false; // the console does not answer: what was shown last stays
  }
}

// Parts with data-again="SECONDS" are asked for again that often, while the page is seen.
function again() {
  for (const { id, dataset } of document.querySelectorAll("[data-again]")) {
    setInterval(() => document.hidden || renew(id), Number(dataset.again) * 1000);
  }
}

// What the job does is told when it becomes another thing, not with each number.
function sentence() {
  const line = document.getElementById("sentence");
  return line ? [line.dataset.code, line.textContent.trim()] : ["", ""];
}

export function live() {
  again();
  for (const element of document.querySelectorAll("[data-live]")) new Region(element);
  let [known] = sentence();
  document.addEventListener("htmx:after:swap", () => {
    const [code, words] = sentence();
    if (code && code !== known) announce(words);
    known = code;
  });
  // An action shows at once, not with the next look.
  document.addEventListener("nacre:asked", () => {
    const region = document.querySelector("[data-live]");
    if (region && !region._htmx?.sse) location.reload();
  });
}
