// Moments are shown in the time of this machine; UTC, which the server wrote, is told on hover.
// Moments to come name their zone, as people make plans by them.
const DAY = { year: "numeric", month: "short", day: "numeric" };
const COMING = { ...DAY, hour: "numeric", minute: "2-digit", timeZoneName: "short" };

export function times(root = document) {
  const language = document.documentElement.lang;
  const form = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
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
