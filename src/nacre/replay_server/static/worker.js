// What a worker of an archived page runs first: its URLs, its time, its storage, its own URL.
//
// SPDX-License-Identifier: Apache-2.0
//
// Before it stands `self.nacre = [TIMESTAMP, URL, KIND];`: KIND is "made" for the worker of a script
// that a page made (blob:), whose URL is that of the page. It has neither import nor export, so that
// it can begin a module too. Modules that a module imports run before it.
(() => {
  const [timestamp, url, kind] = self.nacre;
  delete self.nacre;
  const here = new URL(url);
  const base = () => here.href;
  const root = self.origin; // the script of a blob: has no URL that a path could be relative to
  /* shared.js */
  wrap(self, "importScripts", (real, ...scripts) => real(...scripts.map(replay)));
  if (kind !== "made") {
    const parts = ["href", "origin", "protocol", "host", "hostname", "port", "pathname", "search",
      "hash"];
    const place = { toString: () => here.href };
    for (const name of parts) define(place, name, () => here[name]);
    define(self, "location", () => place);
  }
})();
