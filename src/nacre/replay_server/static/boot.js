// Trades the ticket of a link for a cookie, installs the worker of archived pages, and goes on.
(async () => {
  const box = document.getElementById("boot");
  const show = (step) => {
    for (const part of box.querySelectorAll("[data-step]")) part.hidden = part.dataset.step !== step;
  };
  const fields = new URLSearchParams(location.hash.slice(1));
  const ticket = fields.get("t");
  let admitted = box.dataset.admitted === "1";
  if (ticket) {
    history.replaceState(null, "", location.pathname + location.search);
    const answer = await fetch("/-/ticket", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ticket, label: box.dataset.label }),
    }).catch(() => null);
    admitted = (answer && answer.ok) || admitted;
  }
  if (!admitted) return show("no-ticket");
  const to = fields.get("to") || location.pathname + location.search;
  // Only a path of this origin: the fragment can be made by anybody.
  const target = new URL(to, location.origin);
  if (target.origin !== location.origin) return show("no-ticket");
  if (box.dataset.worker === "1") {
    try {
      await navigator.serviceWorker.register("/-/sw.js", { scope: "/", updateViaCache: "none" });
      const { active } = await navigator.serviceWorker.ready;
      if (active.state !== "activated") {
        await new Promise((done) => {
          active.addEventListener("statechange", () => active.state === "activated" && done());
        });
      }
    } catch {
      return show("no-worker");
    }
    // A worker that does not answer navigations would bring this page again and again.
    if (location.pathname === "/-/boot") sessionStorage.removeItem("nacre-boot");
    const [tries, last] = (sessionStorage.getItem("nacre-boot") || "0 0").split(" ").map(Number);
    const count = Date.now() - last < 3000 ? tries + 1 : 1;
    sessionStorage.setItem("nacre-boot", `${count} ${Date.now()}`);
    if (count > 5) return show("no-worker");
  }
  location.replace(target.pathname + target.search + target.hash);
})();
