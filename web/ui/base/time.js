// Times: relative, with the exact one on hover, in the zone that the reader chose.
import {h} from "./dom.js";
import {duration} from "./format.js";
import {prefs, onPrefs} from "./prefs.js";

let skew = 0; // the server's clock minus this one's, in milliseconds

export const now = () => Date.now() + skew;

// From the Date header of a reply, which has whole seconds.
export function learnClock(header) {
  const at = header ? Date.parse(header) : NaN;
  if (Number.isNaN(at)) return;
  const seen = at + 500 - Date.now();
  if (Math.abs(seen - skew) > 2000) skew = Math.abs(seen) > 2000 ? seen : 0;
}

const zone = () => (prefs().zone === "local" ? undefined : prefs().zone);

export const zoneName = () => zone() || Intl.DateTimeFormat().resolvedOptions().timeZone;

let formats = {};
onPrefs(() => (formats = {}));

function format(name, options) {
  if (!formats[name])
    formats[name] = new Intl.DateTimeFormat("en-GB", {timeZone: zone(), hourCycle: "h23", ...options});
  return formats[name];
}

export function clock(ms) {
  return format("clock", {hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3}).format(
    ms,
  );
}

export function exact(ms) {
  const day = format("exact", {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3,
    timeZoneName: "short",
  });
  return day.format(ms);
}

function relative(ms) {
  const away = now() - ms;
  if (Math.abs(away) < 1000) return "now";
  const text = Math.abs(away) < 10_000 ? `${Math.floor(Math.abs(away) / 1000)}s` : duration(away);
  return away > 0 ? `${text} ago` : `in ${text}`;
}

// <time> that stays true: one timer keeps all of them up to date.
export function time(ms) {
  if (ms === undefined || ms === null) return h("span", {class: "quiet"}, "–");
  const element = h("time", {datetime: new Date(ms).toISOString(), title: exact(ms)}, relative(ms));
  element.dataset.at = ms;
  return element;
}

// What is left until a time; `late` is shown from then on.
export function countdown(ms, late = "over") {
  const element = time(ms);
  element.dataset.late = late;
  tick(element);
  return element;
}

function tick(element) {
  const at = Number(element.dataset.at);
  const {late} = element.dataset;
  let text = relative(at);
  if (late !== undefined) text = at > now() ? `${duration(at - now())} left` : late;
  if (element.textContent !== text) element.textContent = text;
}

export function tickAll() {
  for (const element of document.querySelectorAll("time[data-at]")) tick(element);
}

setInterval(() => document.hidden || tickAll(), 1000);
document.addEventListener("visibilitychange", () => document.hidden || tickAll());
