// Opens the comments of a feed with their replies, as long as there are more.
const MORE = ".comments .more, .comment .replies, [data-testid=show-replies]";

export default async ({ page, log, limits }) => {
  const pressed = new WeakSet();
  let clicks = 0;
  for (;;) {
    const button = page.select(MORE).find((element) => !pressed.has(element) && element.checkVisibility());
    if (!button || limits.isOver() || clicks >= limits.clicks) {
      break;
    }
    pressed.add(button);
    page.scroll(button);
    page.click(button);
    clicks += 1;
    await page.sleep(0.2);
  }
  log(`${clicks} clicks`);
};
