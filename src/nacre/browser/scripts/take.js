// What `measure` has made.
({ name, limit }) => {
  const value = state[name].slice(0, limit);
  state[name] = "";
  return value.toWellFormed();
}
