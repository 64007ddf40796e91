// The key of the link is in the fragment, which no server and no log sees. It leaves the address bar
// before anything else happens. A link that is opened while this page is shown changes the fragment
// alone.
function enter() {
  const key = new URLSearchParams(location.hash.slice(1)).get("k");
  if (!key) return;
  history.replaceState(null, "", location.pathname + location.search);
  const field = document.getElementById("key");
  if (!field) return; // this console takes no links
  field.value = key;
  document.getElementById("login").requestSubmit();
}

enter();
addEventListener("hashchange", enter);
