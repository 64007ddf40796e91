// The scheme of colours and the language, as chosen in the header.
import { keep, kept, send } from "./page.js";

export function choices() {
  const theme = document.getElementById("theme");
  if (theme) {
    theme.value = kept("theme") ?? "";
    theme.addEventListener("change", () => {
      keep("theme", theme.value);
      if (theme.value) document.documentElement.dataset.theme = theme.value;
      else delete document.documentElement.dataset.theme;
    });
  }
  const language = document.getElementById("language");
  const chosen = language?.value;
  language?.addEventListener("change", async () => {
    if (await send("PATCH", "/api/v1/session", { language: language.value })) location.reload();
    else language.value = chosen;
  });
}
