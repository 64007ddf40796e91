// Turns the slides of a carousel, whose pictures are asked for only when their turn comes.
// Change the selector to that of the button of your site.
const NEXT = ".carousel .next, .slider [aria-label=Next], .slick-next, .swiper-button-next";

export default async ({ page, log, limits }) => {
  let turns = 0;
  for (const button of page.select(NEXT)) {
    const carousel = button.closest(".carousel, .slider, .slick-slider, .swiper") ?? button.parentElement;
    let before = "";
    // It is through when it shows what it showed before
    const shown = new Set();
    while (!limits.isOver() && turns < 100 && !shown.has(before)) {
      shown.add(before);
      if (!page.click(button)) {
        break;
      }
      turns += 1;
      await page.sleep(0.2);
      before = carousel.innerHTML;
    }
  }
  log(`${turns} turns`);
};
