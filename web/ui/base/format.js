// Numbers, bytes and durations as people read them; the exact value stays visible or one hover away.

export const count = (value) => (typeof value === "bigint" ? value : Number(value)).toLocaleString("en");

export const plural = (n, word, words = `${word}s`) => `${count(n)} ${Number(n) === 1 ? word : words}`;

export function bytes(value) {
  const n = Number(value);
  if (n < 1024) return plural(n, "byte");
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let at = -1;
  let scaled = n;
  do {
    scaled /= 1024;
    ++at;
  } while (scaled >= 1024 && at < units.length - 1);
  return `${scaled.toFixed(scaled < 10 ? 1 : 0)} ${units[at]} (${count(value)} bytes)`;
}

const steps = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
];

// The two largest units: 2d 3h, 5m 10s, 12 ms.
export function duration(milliseconds) {
  const ms = Math.abs(milliseconds);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const at = steps.findIndex(([size]) => ms >= size);
  const [size, unit] = steps[at];
  const whole = Math.floor(ms / size);
  const next = steps[at + 1];
  const rest = next ? Math.floor((ms - whole * size) / next[0]) : 0;
  return rest > 0 ? `${whole}${unit} ${rest}${next[1]}` : `${whole}${unit}`;
}

// The forms of an execution's id: `{fp:75}:0192…` in replies, `75-0192…` in URLs and commands.
export function shortId(id) {
  const found = /^\{fp:(\d+)\}:(.+)$/.exec(id);
  return found ? `${found[1]}-${found[2]}` : id;
}

// The end of an id, which tells neighbours in a list apart.
export const idTail = (id) => `…${shortId(id).slice(-12)}`;

export const words = (name) => String(name).replaceAll("_", " ");
