// In the page's own world: hands the messages of uncaught exceptions to the other world by an event
// of a name that is new for each page. The page may forge them: they are data, and bounded.
(name) => {
  if (globalThis.top !== globalThis) {
    return;
  }
  const { CustomEvent, String, dispatchEvent } = globalThis;
  const cut = Function.prototype.call.bind(String.prototype.slice);
  let left = 50;
  const report = (message, place) => {
    left -= 1;
    if (left >= 0) {
      dispatchEvent(new CustomEvent(name, { detail: cut(String(message), 0, 400) + place }));
    }
  };
  addEventListener("error", ({ message, filename, lineno }) => {
    if (message) {
      report(message, filename ? ` (${cut(String(filename), 0, 200)}:${lineno})` : "");
    }
  });
  addEventListener("unhandledrejection", ({ reason }) => {
    try {
      report(`Uncaught (in promise) ${reason}`, "");
    } catch {
      report("Uncaught (in promise)", "");
    }
  });
}
