// Pages through a calendar, some months ahead, and reports the links of the days. Calendars have no
// end: the number of months is the limit.
const NEXT = ".calendar .next, [aria-label='Next month'], .fc-next-button";
const DAYS = ".calendar a[href], .fc a[href]";
const MONTHS = 12;

export default async ({ page, log, link, limits }) => {
  const links = new Set();
  let months = 0;
  const note = () => page.select(DAYS).forEach((day) => links.add(day.href));
  note();
  while (months < MONTHS && !limits.isOver()) {
    const button = await page.wait(NEXT, 1);
    if (!button || !page.click(button)) {
      break;
    }
    months += 1;
    await page.sleep(0.2);
    note();
  }
  links.forEach(link);
  log(`${months} months, ${links.size} links`);
};
