// Short messages about what was done, and boxes for what went wrong.
import {h, replace} from "../base/dom.js";
import {icon} from "./icons.js";

const area = h("div", {class: "toasts", role: "status", "aria-live": "polite"});
const shown_ms = 6000;
const shown_max = 4;

export const toastArea = () => area;

export function toast(text, tone = "good") {
  const message = h(
    "div",
    {class: `toast tone-${tone}`},
    icon(tone === "bad" ? "warning" : "check"),
    h("span", {}, text),
  );
  area.append(message);
  while (area.children.length > shown_max) area.firstChild.remove();
  setTimeout(() => message.remove(), shown_ms);
}

export const fail = (problem) => toast(problem.message, "bad");

export function problemBox(problem, again) {
  return h(
    "div",
    {class: "problem", role: "alert"},
    icon("warning"),
    h(
      "div",
      {},
      h("strong", {}, problem.message),
      problem.code ? h("div", {class: "quiet"}, h("code", {}, problem.code)) : null,
    ),
    again ? h("button", {type: "button", onclick: again}, "Try again") : null,
  );
}

export const emptyBox = (title, ...hint) =>
  h(
    "div",
    {class: "empty"},
    h("p", {class: "empty-title"}, title),
    hint.length ? h("p", {class: "quiet"}, ...hint) : null,
  );

export const loading = () => h("p", {class: "loading quiet", role: "status"}, "Loading…");

// Fills a box with what `make` gives, or with why there is nothing.
export async function fill(box, make, signal) {
  try {
    const made = await make();
    if (!signal || !signal.aborted) replace(box, made);
  } catch (problem) {
    if (problem.name === "AbortError") return;
    replace(
      box,
      problemBox(problem, () => fill(box, make, signal)),
    );
  }
}
