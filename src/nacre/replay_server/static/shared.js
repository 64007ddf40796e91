  // What pages and their workers have in common; the server puts it into shim.js and worker.js,
  // which set `timestamp`, `here` (the URL, as a URL object), `base` (gives what other URLs are
  // relative to) and `root` (what paths of replay begin with).
  //
  // SPDX-License-Identifier: Apache-2.0
  const own = self.origin;
  const prefix = `${root}/${timestamp}mp_/`;
  const isReplay = /^\/(\d{1,14}mp_|-)\//;
  const define = (object, name, get, set) =>
    object && Object.defineProperty(object, name, { get, set, configurable: true });
  const wrap = (object, name, change) => {
    const real = object?.[name];
    if (!real) return;
    object[name] = function (...values) {
      return change.call(this, real.bind(this), ...values);
    };
  };

  // The URL in replay of any URL.
  const replay = (value) => {
    const text = String(value).trim();
    let to;
    try {
      to = new URL(/^[\\/]{2}/.test(text) ? here.protocol + text : text, base());
    } catch {
      return value;
    }
    if (!/^(https?|ftp):$/.test(to.protocol)) return value;
    if (to.origin !== own) return prefix + to.href;
    if (isReplay.test(to.pathname)) return value;
    return prefix + here.origin + to.href.slice(own.length);
  };

  // Requests.
  const { Request } = self;
  self.Request = new Proxy(Request, {
    construct: (real, [input, init]) =>
      new real(input instanceof Request ? input : replay(input), init),
  });
  wrap(self, "fetch", (real, input, init) =>
    real(input instanceof Request ? input : replay(input), init));
  wrap(XMLHttpRequest.prototype, "open", (real, method, to, ...more) =>
    real(method, replay(to), ...more));

  // Workers. The server puts worker.js before their scripts; before those that a script makes
  // (blob:), it is put here. The policy of a script governs its worker, as that of a page its page.
  const read = (place) => {
    const request = new XMLHttpRequest();
    request.open("GET", place, false);
    request.send();
    return request.responseText;
  };
  const made = (script) => {
    const text = read(script);
    const facts = JSON.stringify([timestamp, here.href, "made"]);
    const parts = [`self.nacre = ${facts};`, read(`${own}/-/worker.js`), "\n", text];
    if (/^\s*["']use strict/.test(text)) parts.unshift('"use strict";');
    return URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
  };
  for (const name of ["Worker", "SharedWorker"]) {
    if (!self[name]) continue;
    self[name] = new Proxy(self[name], {
      construct: (real, [script, ...options], type) => {
        let place = replay(script);
        if (name === "Worker" && /^(blob|data):/i.test(script)) {
          try {
            place = made(script);
          } catch { /* it cannot be read: the worker fails, as it did live */ }
        }
        return Reflect.construct(real, [place, ...options], type);
      },
    });
  }

  // Time.
  const full = timestamp + "00000101000000".slice(timestamp.length);
  const [year, month, ...clock] = /^(....)(..)(..)(..)(..)(..)/.exec(full).slice(1).map(Number);
  const now = Date.now.bind(Date);
  const shift = Date.UTC(year, month - 1, ...clock) - now();
  Date.now = () => now() + shift;
  self.Date = Date.prototype.constructor = new Proxy(Date, {
    construct: (real, values, type) =>
      Reflect.construct(real, values.length ? values : [real.now()], type),
    apply: (real) => new real(real.now()).toString(),
  });

  // Storage, by archived host.
  const mark = `${here.host}\n`;
  for (const type of [self.IDBFactory, self.CacheStorage]) {
    for (const name of ["open", "deleteDatabase", "has", "delete"]) {
      wrap(type?.prototype, name, (real, key, ...more) => real(mark + key, ...more));
    }
  }

  // What an archive does not have.
  class Closed extends EventTarget {
    static CONNECTING = 0; static OPEN = 1; static CLOSING = 2; static CLOSED = 3;
    readyState = 3;
    constructor(to) {
      super();
      this.url = String(to);
      setTimeout(() => {
        for (const type of ["error", "close"]) {
          const event = new Event(type);
          this.dispatchEvent(event);
          this[`on${type}`]?.(event);
        }
      });
    }
    send() {}
    close() {}
  }
  self.WebSocket = self.EventSource = Closed;
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) {
    define(self, name, () => undefined);
  }
