// What modules share: texts of the page, its token, and the line that screen readers speak.

// A text in the language of the page; `values` take the places of `{name}`.
export function text(name, values = {}) {
  const boxes = [...document.querySelectorAll("template#texts, template[data-texts]")];
  const found = boxes.map((box) => box.content.querySelector(`[data-text="${name}"]`)).find(Boolean);
  const words = found?.textContent ?? name;
  return words.replace(/\{(\w+)\}/g, (all, key) => String(values[key] ?? all));
}

// The address of a part of this page, in the language that the address of the page asks for.
export function inLanguage(path) {
  const url = new URL(path, location.href);
  const language = new URLSearchParams(location.search).get("lang");
  if (language) url.searchParams.set("lang", language);
  return url;
}

export function token() {
  return document.querySelector('meta[name="nacre-token"]')?.content ?? "";
}

// A value that this browser keeps; null where it keeps nothing.
export function kept(name) {
  try {
    return localStorage.getItem(`nacre-${name}`);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    if (value) localStorage.setItem(`nacre-${name}`, value);
    else localStorage.removeItem(`nacre-${name}`);
  } catch {
    // The choice holds for this page only.
  }
}

// Ask the interface for programs. The answer: {ok, status, data}, data being JSON or null.
export async function ask(verb, path, body) {
  const fields = { Accept: "application/json", "X-Nacre-Token": token() };
  if (body !== undefined) fields["Content-Type"] = "application/json";
  try {
    const answer = await fetch(path, {
      method: verb,
      headers: fields,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const isJson = (answer.headers.get("content-type") ?? "").includes("json");
    return { ok: answer.ok, status: answer.status, data: isJson ? await answer.json() : null };
  } catch {
    return { ok: false, status: 0, data: { detail: text("unreachable") } };
  }
}

const PAUSE = 10_000;
let spoken = -PAUSE;
let waiting = 0;

// Have a text spoken, one in ten seconds at most: the last one counts.
export function announce(words) {
  const line = document.getElementById("announcements");
  if (!line) return;
  clearTimeout(waiting);
  const wait = Math.max(0, spoken + PAUSE - performance.now());
  waiting = setTimeout(() => {
    spoken = performance.now();
    line.textContent = words;
  }, wait);
}
