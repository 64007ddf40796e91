// Runs a script of a site: a function that gets what it may use, and reports by `log` and `link`.
async (behaviour, { seconds, clicks }) => {
  const deadline = performance.now() + 1000 * seconds;
  let left = clicks;
  const page = {
    get url() {
      return location.href;
    },
    select: (selector) => [...selectDeep(selector)],
    sleep: (time) => pause(Math.max(0, Math.min(1000 * time, deadline - performance.now()))),
    wait: async (selector, time = 5) => {
      const end = Math.min(deadline, performance.now() + 1000 * time);
      for (;;) {
        const [element] = selectDeep(selector);
        if (element || performance.now() >= end) {
          return element ?? null;
        }
        await pause(100);
      }
    },
    click: (element) => {
      left -= 1;
      if (left < 0 || performance.now() > deadline) {
        return false;
      }
      press(element);
      return true;
    },
    scroll: (element) => Element.prototype.scrollIntoView.call(element, { behavior: "instant" }),
  };
  const log = (message) => state.log.length < 100 && state.log.push(wellFormed(message, 500));
  const link = (value) => {
    const url = new URL(value, getter(Node, "baseURI")(document)).href;
    return state.links.length < 1000 && url.length < 4096 && state.links.push(url.toWellFormed());
  };
  const limits = { seconds, clicks, isOver: () => performance.now() > deadline };
  await behaviour({ page, log, link, limits });
}
