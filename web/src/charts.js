// Charts: `<figure data-chart='[{"name": …}, …]' data-points='[[times], [values], …]'>` with a
// `.plot` in it. The table in its <details> has the same numbers for those who do not see a canvas.
import uPlot from "uplot";

const COLOURS = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6"];
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3], [4, 4], [1, 2]];
const HEIGHT = 192;
const known = new Map();

// A canvas does not know light-dark(): an element does, and tells the colour that holds.
function colour(name, share = 1) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return share === 1 ? found : found.replace("rgb(", "rgba(").replace(")", `, ${share})`);
}

function number(value, digits, form = {}) {
  return new Intl.NumberFormat(document.documentElement.lang, { maximumSignificantDigits: digits, ...form }).format(value);
}

function sizes(value, digits) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  for (; Math.abs(value) >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${number(value, digits)} ${units[unit]}`;
}

function seconds(value, digits) {
  const [amount, unit] = value < 1 ? [value * 1000, "millisecond"] : [value, "second"];
  return number(amount, digits, { style: "unit", unit });
}

// How a value of each unit is written, to so many digits.
const WRITERS = { bytes: sizes, seconds };
const plain = (value, digits) => number(value, digits, { notation: "compact" });

// The values of an axis have as many digits as two neighbours need to differ: never "0, 0".
function ticksWith(write) {
  return (_, values, axis, space, step) => values.map((value) => {
    // Steps are 1, 2, 2.5 or 5 of a power of ten.
    const last = Math.floor(Math.log10(step) + 1e-9) - (/^25/.test(step.toExponential().replace(".", "")) ? 1 : 0);
    const first = value ? Math.floor(Math.log10(Math.abs(value)) + 1e-9) : last;
    return write(value, Math.min(Math.max(first - last + 1, 1), 15));
  });
}

// The room that the longest label of an axis takes, in pixels: its own, so that none is cut off.
function widthOf(chart, labels) {
  chart.ctx.save();
  chart.ctx.font = chart.axes[1].font[0];
  const longest = Math.max(0, ...(labels ?? []).map((label) => chart.ctx.measureText(label ?? "").width));
  chart.ctx.restore();
  return longest / devicePixelRatio;
}

// Moments of the axis: with seconds where it is short, with the day where it is long.
function moments(ticks) {
  const span = ticks.length > 1 ? ticks[ticks.length - 1] - ticks[0] : 0;
  const form = span < 180 ? { timeStyle: "medium" } : span < 86_400 ? { timeStyle: "short" }
    : { month: "numeric", day: "numeric", hour: "numeric", minute: "2-digit" };
  const written = new Intl.DateTimeFormat(document.documentElement.lang, { ...form, hourCycle: "h23" });
  return ticks.map((tick) => written.format(tick * 1000));
}

// Bands on one another: each series becomes the sum of itself and those below.
function stack(points) {
  const sums = points[0].map(() => 0);
  return [points[0], ...points.slice(1).map((values) => values.map((value, place) => (sums[place] += value ?? 0)))];
}

// The time that is shown. One point has no span of its own: it stands at the end of a minute.
function spanOf(chart) {
  const times = chart.data[0];
  const last = times.at(-1) ?? 60;
  return times.length > 1 ? [times[0], last] : [last - 60, last];
}

function options(figure, width) {
  const series = JSON.parse(figure.dataset.chart);
  const write = WRITERS[figure.dataset.unit] ?? plain;
  const line = { stroke: colour("--text-soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
  const isStacked = "stacked" in figure.dataset;
  return {
    width,
    height: HEIGHT,
    cursor: { drag: { x: false, y: false } },
    legend: { show: true },
    scales: { x: { range: spanOf }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.05 : 1] } },
    // Half of the last moment may stand beyond the end of the axis.
    padding: [null, 32, null, null],
    axes: [
      { ...line, space: 100, values: (_, ticks) => moments(ticks) },
      { ...line, size: (chart, labels) => Math.max(40, Math.ceil(widthOf(chart, labels)) + 18), values: ticksWith(write) },
    ],
    series: [
      { label: figure.dataset.time, value: (_, time) => (time == null ? "–" : moments([time])[0]) },
      ...series.map(({ name }, place) => ({
        label: name,
        stroke: colour(COLOURS[place % COLOURS.length]),
        dash: DASHES[place % DASHES.length],
        width: 2,
        fill: isStacked ? colour(COLOURS[place % COLOURS.length], 0.25) : undefined,
        value: (_, value) => (value == null ? "–" : write(value, 3)),
        points: { show: (chart) => chart.data[0].length < 12 },
      })),
    ],
  };
}

function data(figure) {
  const points = JSON.parse(figure.dataset.points || "[[]]");
  return "stacked" in figure.dataset ? stack(points) : points;
}

function draw(figure) {
  const place = figure.querySelector(".plot");
  const width = place.clientWidth;
  if (!width) return;
  const chart = known.get(figure);
  if (chart) {
    chart.setData(data(figure));
    return;
  }
  known.set(figure, new uPlot(options(figure, width), data(figure), place));
}

function drawAll() {
  for (const [figure, chart] of known) {
    if (!figure.isConnected) {
      chart.destroy();
      known.delete(figure);
    }
  }
  document.querySelectorAll("[data-chart]").forEach(draw);
}

function again() {
  for (const chart of known.values()) chart.destroy();
  known.clear();
  drawAll();
}

drawAll();
document.addEventListener("htmx:after:swap", drawAll);
document.addEventListener("nacre:theme", again);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
let resizing = 0;
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(() => {
    for (const [figure, chart] of known) {
      chart.setSize({ width: figure.querySelector(".plot").clientWidth, height: HEIGHT });
    }
  }, 100);
});
