// The colours, the details and the language that the user chooses in the header.
import { ask, keep, kept } from "./page.js";

export function choices() {
  const theme = document.getElementById("theme");
  if (theme) {
    theme.value = kept("theme") ?? "";
    theme.addEventListener("change", () => {
      keep("theme", theme.value);
      if (theme.value) document.documentElement.dataset.theme = theme.value;
      else delete document.documentElement.dataset.theme;
      document.dispatchEvent(new Event("nacre:theme"));
    });
  }
  const mode = document.getElementById("mode");
  if (mode) {
    mode.value = kept("mode") ?? "";
    mode.addEventListener("change", () => {
      keep("mode", mode.value);
      document.documentElement.dataset.mode = mode.value;
    });
  }
  const language = document.getElementById("language");
  language?.addEventListener("change", async () => {
    const answer = await ask("PATCH", "/api/v1/session", { language: language.value });
    if (!answer.ok) return;
    const url = new URL(location.href);
    if (!url.searchParams.has("lang")) {
      location.reload();
      return;
    }
    url.searchParams.delete("lang"); // it would hold for this page in place of what was chosen
    location.replace(url);
  });
}
