// Loaded before the page is painted: the chosen scheme of colours, else that of the system holds.
try {
  const theme = localStorage.getItem("nacre-theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing for us uses the scheme of the system.
}
