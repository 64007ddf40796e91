// What is live in a page: `<div id=… data-live="URL of a stream">`, which the server sends as a whole
// when it changed; the numbers of the header; and parts that are asked for again now and then.
import htmx from "./htmx.js";
import { announce, inLanguage, text } from "./page.js";
import { Stream } from "./stream.js";

async function swap(target, html) {
  await htmx.swap({ target, text: html, swap: "innerMorph", sourceElement: target });
}

async function fetched(url) {
  try {
    const answer = await fetch(url, { headers: { Accept: "text/html" } });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null; // the console does not answer: what was shown last stays
  }
}

// Ask for the page again, and take parts of it by their ids. Whether that could be done.
async function renew(...ids) {
  const html = await fetched(location.href);
  if (html === null) return false;
  const page = new DOMParser().parseFromString(html, "text/html");
  const told = page.querySelectorAll("#notices > *");
  if (told.length) document.getElementById("notices").replaceChildren(...told);
  for (const id of ids) {
    const [fresh, target] = [page.getElementById(id), document.getElementById(id)];
    if (fresh && target) await swap(target, fresh.innerHTML);
    else if (target) location.reload(); // the page is another one now
  }
  return true;
}

// Parts with data-again="SECONDS" are asked for again that often, while the page is seen.
function again() {
  for (const { id, dataset } of document.querySelectorAll("[data-again]")) {
    setInterval(() => document.hidden || renew(id), Number(dataset.again) * 1000);
  }
}

function alerts() {
  return Number(document.querySelector("#pulse [data-alerts]")?.dataset.alerts ?? 0);
}

// The numbers of the header; the page of alerts is asked for again when there are others.
async function header(html) {
  const pulse = document.getElementById("pulse");
  if (!pulse || !html) return;
  const before = alerts();
  await swap(pulse, html);
  const now = alerts();
  if (now > before) announce(text("alerts", { count: now }));
  if (now !== before && document.getElementById("alert-list")) renew("alert-list");
}

async function pollHeader() {
  const html = await fetched(inLanguage("/header"));
  if (html !== null) await header(html);
  return html !== null;
}

// What the job does is told when it becomes another thing, not with each number.
function sentence() {
  const line = document.getElementById("sentence");
  return line ? [line.dataset.code, line.textContent.trim()] : ["", ""];
}

export function live() {
  again();
  const region = document.querySelector("[data-live]");
  let stream = null;
  if (region) {
    stream = new Stream({
      url: () => region.dataset.live,
      take: (event) => swap(region, event.data),
      header,
      poll: () => renew(region.id, "pulse"),
    });
  } else if (document.getElementById("pulse") && !document.querySelector("[data-log]")) {
    new Stream({ url: () => "/live/header", header, poll: pollHeader });
  }
  document.addEventListener("nacre:header", (event) => header(event.detail));
  let [known] = sentence();
  document.addEventListener("htmx:after:swap", () => {
    const [code, words] = sentence();
    if (code && code !== known) announce(words);
    known = code;
  });
  // An action shows at once, not with the next look.
  document.addEventListener("nacre:asked", () => {
    if (!stream) location.reload();
    else if (!stream.heard) stream.poll();
  });
}
