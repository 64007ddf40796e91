// The worker of replay: every request of an archived page is answered from the archive.
//
// SPDX-License-Identifier: Apache-2.0
//
// A capture is at /TIMESTAMPmp_/URL of this origin. Most URLs of a page lead there already: they are
// relative, or the server or the shim rewrote them, and the policy of the page refuses all other
// origins. This worker finds the place of the rest, which scripts make: paths of the root (/x), too
// many "..", and slashes that were collapsed. Such a request belongs to the document or style sheet
// that made it (its referrer, else its client), and gets that one's host and time.
//
// To the server
//   X-Nacre-Worker: document, iframe, image, script, … (`Request.destination`; "empty" for fetch).
//     A navigation without it has not passed this worker: the server answers with the boot page,
//     which registers it and loads the page again. Of a request by `object` or `embed`, which
//     browsers keep from workers, Sec-Fetch-Dest says so instead.
//   Method, body and Content-Type of a request are sent as they are: the server makes the key of a
//     POST capture from them. `Range` and all other fields of the page are sent too, but
//     Authorization, Cookie and those that begin with X-Nacre-.
//
// From the server
//   A reply from the archive has Memento-Datetime, whatever its status. One with status 400 or more
//     and without it means that there is no such capture.
//
// To the page, which passes it on to the viewer (shim.js)
//   { nacre: "missing", url, timestamp } by postMessage to the client, or to a page for a worker: a
//     sub-request that the archive does not have.

const PATH = /^\/(\d{1,14})mp_\/(.*)$/s;
const OURS = "/-/";
const WHOLE = /^[a-z][a-z0-9+.-]*:\/\/[^/?]+[/?]/i;
const SINGLE_LABEL = /^[a-z]+:\/\/[^/?.:]+\//i; // `../x/y` on a page of the root is `http://x/y`
const CALLBACK = /[?&](?:callback|jsonp|jsoncallback|cb)=([\w$.%]+)/i;
const CALL = /^((?:\s|\/\*[^]*?\*\/|\/\/.*\n|;)*)[\w$.[\]"']+\(/;
const DROPPED = /^(authorization|cookie|x-nacre-.*)$/i;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (url.origin === self.location.origin && url.pathname.startsWith(OURS)) return;
  event.respondWith(answer(event).catch(() => unreachable(event.request)));
});

async function answer(event) {
  const { request } = event;
  const client = await clientOf(event);
  const target = await place(request, client);
  if (target === null) return gone(404, "This request belongs to no page of the archive.");
  const path = `/${target.timestamp}mp_/${target.url}`;
  if (request.mode === "navigate" && new URL(path, self.location).href !== withoutFragment(request)) {
    return Response.redirect(path, 307);
  }
  const sent = await asSent(request);
  const reply = await self.fetch(path, sent);
  if (!isMissing(reply)) return request.destination === "script" ? named(reply, path) : reply;
  if (target.instead) {
    const other = await self.fetch(`/${target.timestamp}mp_/${target.instead}`, sent);
    if (!isMissing(other)) return other;
  }
  if (request.mode !== "navigate") {
    const { timestamp, url } = target;
    const page = client?.type === "window" ? client : await anyWindow();
    page?.postMessage({ nacre: "missing", url, timestamp });
  }
  return reply;
}

// A script that calls a function which its URL names (JSONP) was captured with another name.
async function named(reply, path) {
  const name = CALLBACK.exec(path)?.[1];
  if (!name || !reply.ok) return reply;
  const bytes = new Uint8Array(await reply.arrayBuffer());
  const call = CALL.exec(String.fromCharCode(...bytes.subarray(0, 1000)));
  const parts = call
    ? [`${call[1]}${decodeURIComponent(name)}(`, bytes.subarray(call[0].length)] : [bytes];
  return new Response(new Blob(parts), { status: reply.status, headers: reply.headers });
}

function isMissing(reply) {
  return reply.status >= 400 && !reply.headers.has("Memento-Datetime");
}

// The timestamp and the archived URL of a request, and perhaps the one that is meant `instead`;
// null if it belongs to no page.
async function place(request, client) {
  const url = new URL(withoutFragment(request));
  const source = archived(request.referrer) ?? archived(client?.url) ?? (await anyPage());
  if (url.origin !== self.location.origin) {
    return source && { timestamp: source.timestamp, url: url.href };
  }
  const direct = archived(url.href);
  const isWhole = direct && WHOLE.test(direct.url);
  if (isWhole && !(source && SINGLE_LABEL.test(direct.url))) return direct;
  if (!source) return null;
  const rest = direct ? direct.url : url.pathname + url.search;
  const moved = relocate(rest, source.url);
  if (isWhole) return { ...direct, instead: moved };
  return { timestamp: direct?.timestamp ?? source.timestamp, url: moved };
}

// The parts of a URL of replay; null for another one.
function archived(href) {
  if (!href || !href.startsWith(self.location.origin)) return null;
  const match = PATH.exec(href.slice(self.location.origin.length).replace(/#.*$/s, ""));
  return match && { timestamp: match[1], url: match[2] };
}

// A path that lost its host: `/x`, `http:/h/x` (slashes collapsed), `http://x` and `http:/x` and
// `x` (too many "..").
function relocate(rest, base) {
  const { protocol, host } = new URL(base);
  const collapsed = /^([a-z]+:)\/([^/]+)(\/.*)$/is.exec(rest);
  if (collapsed && (collapsed[2] === host || collapsed[2].includes("."))) {
    return `${collapsed[1]}//${collapsed[2]}${collapsed[3]}`;
  }
  return `${protocol}//${host}/${rest.replace(/^([a-z]+:)?\/*/i, "")}`;
}

function withoutFragment(request) {
  return request.url.replace(/#.*$/s, "");
}

async function clientOf(event) {
  return event.clientId ? self.clients.get(event.clientId) : undefined;
}

// Frames without a URL (about:blank, blob:) send no referrer: their page is open in this browser.
async function anyPage() {
  return archived((await anyWindow())?.url);
}

async function anyWindow() {
  const windows = await self.clients.matchAll({ type: "window" });
  windows.sort((a, b) => Number(b.focused) - Number(a.focused));
  return windows.find((client) => archived(client.url));
}

async function asSent(request) {
  const headers = new Headers();
  for (const [name, value] of request.headers) {
    if (!DROPPED.test(name)) headers.append(name, value);
  }
  headers.set("X-Nacre-Worker", request.destination || "empty");
  const hasBody = !["GET", "HEAD"].includes(request.method);
  return {
    method: request.method,
    headers,
    body: hasBody ? await request.arrayBuffer() : undefined,
    mode: "same-origin",
    credentials: "same-origin",
    cache: request.cache,
    redirect: request.mode === "navigate" ? "manual" : "follow",
    referrer: request.referrer.startsWith(self.location.origin) ? request.referrer : "",
    signal: request.signal,
  };
}

function unreachable(request) {
  if (request.mode !== "navigate") return Response.error();
  return gone(502, "The replay server does not answer. Start it again, then load this page again.");
}

function gone(status, text) {
  return new Response(text, { status, headers: { "Content-Type": "text/plain; charset=utf-8" } });
}
