// Moments are shown in the time of this machine; UTC, which the server wrote, is told on hover.
// Moments to come name their zone, as people make plans by them.
const DAY = { year: "numeric", month: "short", day: "numeric" };
const COMING = { ...DAY, hour: "numeric", minute: "2-digit", timeZoneName: "short", hourCycle: "h23" };

export function times(root = document) {
  // The page has a language; the browser knows its dialect, such as en-GB.
  const page = document.documentElement.lang;
  const language = navigator.languages.find((name) => name.split("-")[0] === page.split("-")[0]) ?? page;
  const form = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
  const coming = new Intl.DateTimeFormat(language, COMING);
  const month = new Intl.DateTimeFormat(language, { year: "numeric", month: "long", timeZone: "UTC" });
  for (const element of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const whole = "month" in element.dataset;
    const local = (whole ? month : "zone" in element.dataset ? coming : form).format(moment);
    if (element.textContent === local) continue;
    if (!whole) element.title = `${element.dateTime.replace("T", " ").replace("Z", "")} UTC`;
    element.textContent = local;
  }
}
