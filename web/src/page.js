// What modules share: values that this browser keeps, and questions to the interface for programs.

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

// Send JSON; whether it was granted. A console that does not answer grants nothing.
export async function send(verb, path, body) {
  const token = document.querySelector('meta[name="nacre-token"]')?.content ?? "";
  const headers = { "Content-Type": "application/json", "X-Nacre-Token": token };
  try {
    return (await fetch(path, { method: verb, headers, body: JSON.stringify(body) })).ok;
  } catch {
    return false;
  }
}
