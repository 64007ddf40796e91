// Moments are shown in the time of this machine; UTC, which the server wrote, is told on hover.
export function times(root = document) {
  const language = document.documentElement.lang;
  const form = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
  const month = new Intl.DateTimeFormat(language, { year: "numeric", month: "long", timeZone: "UTC" });
  for (const element of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    const whole = "month" in element.dataset;
    const local = (whole ? month : form).format(moment);
    if (element.textContent === local) continue;
    if (!whole) element.title = `${element.dateTime.replace("T", " ").replace("Z", "")} UTC`;
    element.textContent = local;
  }
}
