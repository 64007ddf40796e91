// Plays the first elements that make sound or pictures, without sound; `stop` ends them.
({ limit, stop }) => {
  if (stop) {
    state.playing.forEach((element) => HTMLMediaElement.prototype.pause.call(element));
    return state.playing.length;
  }
  const muted = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, "muted");
  for (const element of selectDeep("video, audio")) {
    if (state.playing.length >= limit) {
      break;
    }
    if (element instanceof HTMLMediaElement) {
      muted.set.call(element, true);
      HTMLMediaElement.prototype.play.call(element).catch(() => {});
      state.playing.push(element);
    }
  }
  return state.playing.length;
}
