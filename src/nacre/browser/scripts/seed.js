// In the page's own world, first of all scripts: `Math.random` as replayers seed it, so that a
// replayed page asks for what it asked for when it was captured.
(seed) => {
  let state = seed;
  Math.random = () => {
    state = (9301 * state + 49297) % 233280;
    return state / 233280;
  };
}
