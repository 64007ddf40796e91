// The toolbar around an archived page: the slider, and what the page reports.
// Whatever a page reports is hostile: it is shown as text, and becomes part of URLs of the viewer only.
const frame = document.getElementById("page");
const { origin, label } = frame.dataset;
const MOST = 500;
let missing = new Set();

const viewPath = (timestamp, url) => `/view/${label}/${timestamp}/${url.replace(/[#\\]/g, encodeURIComponent)}`;

function listMissing() {
  const box = document.getElementById("missing");
  if (!box) return;
  box.hidden = missing.size === 0;
  document.getElementById("missing-count").textContent = String(missing.size);
  const rows = [...missing].slice(0, MOST).map((url) => {
    const row = document.createElement("li");
    row.textContent = url;
    row.dir = "ltr";
    return row;
  });
  document.getElementById("missing-list").replaceChildren(...rows);
}

function wireSlider() {
  const slider = document.getElementById("slider");
  if (!slider) return;
  const times = slider.dataset.times.trim().split(" ");
  const text = (time) => time.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, "$1-$2-$3 $4:$5:$6");
  slider.addEventListener("input", () => {
    const time = text(times[slider.value]);
    slider.setAttribute("aria-valuetext", time);
    document.getElementById("slider-time").textContent = time;
  });
  slider.addEventListener("change", () => {
    location.assign(viewPath(times[slider.value], document.getElementById("url").defaultValue));
  });
}

// The page in the frame went to another page: the toolbar follows.
async function follow(url, timestamp) {
  const path = viewPath(timestamp, url);
  if (path === location.pathname + location.search) return;
  missing = new Set();
  const answer = await fetch(path, { headers: { "x-nacre-part": "bar" } }).catch(() => null);
  if (!answer || !answer.ok) return;
  const bar = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("bar");
  if (!bar) return;
  const focused = document.activeElement?.id;
  document.getElementById("bar").replaceWith(bar);
  if (focused && focused !== "page") document.getElementById(focused)?.focus();
  history.replaceState(null, "", path);
  document.title = bar.querySelector("h1").textContent;
  wireSlider();
  listMissing();
}

const isUrl = (url) => typeof url === "string" && url.length < 8000 && /^(https?|ftp|wss?):\/\//i.test(url);

addEventListener("message", (event) => {
  const { data, source } = event;
  if (event.origin !== origin || typeof data !== "object" || data === null || !isUrl(data.url)) return;
  if (data.nacre === "page" && source === frame.contentWindow) {
    if (/^\d{1,14}$/.test(data.timestamp) && /^https?:/i.test(data.url)) follow(data.url, data.timestamp);
  } else if ((data.nacre === "missing" || data.nacre === "blocked") && missing.size < MOST) {
    missing.add(data.url.slice(0, 2000));
    listMissing();
  }
});

wireSlider();
listMissing();
