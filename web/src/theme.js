// Loaded before the page is painted: the chosen colours (default: those of the system) and details.
try {
  const theme = localStorage.getItem("nacre-theme");
  if (theme) document.documentElement.dataset.theme = theme;
  document.documentElement.dataset.mode = localStorage.getItem("nacre-mode") ?? "";
} catch {
  // A browser that keeps nothing for us uses the scheme of the system.
}
