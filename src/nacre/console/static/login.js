// The key of the link is in the fragment, which no server and no log sees. It leaves the address bar
// before anything else happens.
const key = new URLSearchParams(location.hash.slice(1)).get("k");
if (key) {
  history.replaceState(null, "", location.pathname + location.search);
  document.getElementById("key").value = key;
  document.getElementById("login").requestSubmit();
}
