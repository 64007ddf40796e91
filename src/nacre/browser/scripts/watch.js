// At the start of each document: keeps messages of uncaught exceptions, and keeps the page where it
// is when it wants to go to a URL that is not the web's (about:, blob:), which no request shows.
(name) => {
  if (globalThis.top !== globalThis) {
    return;
  }
  addEventListener(name, ({ detail }) => {
    if (typeof detail === "string" && state.errors.length < 50) {
      state.errors.push(wellFormed(detail, 600));
    }
  });
  globalThis.navigation?.addEventListener("navigate", (event) => {
    if (event.cancelable && !/^https?:/.test(event.destination.url)) {
      event.preventDefault();
    }
  });
}
