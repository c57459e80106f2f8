// What a person prefers in this browser. Never a credential.
const key = "flowfabric.preferences";
const defaults = {theme: "system", zone: "local", keys: true};
const watchers = new Set();

function read() {
  try {
    return {...defaults, ...JSON.parse(localStorage.getItem(key) || "{}")};
  } catch {
    return {...defaults};
  }
}

let current = read();

export const prefs = () => current;

export function setPrefs(changes) {
  current = {...current, ...changes};
  try {
    localStorage.setItem(key, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing: they hold for this page.
  }
  for (const watch of watchers) watch(current);
}

export const onPrefs = (watch) => watchers.add(watch);

window.addEventListener("storage", (event) => {
  if (event.key !== key) return;
  current = read();
  for (const watch of watchers) watch(current);
});
