// States by icon, word and colour.
import {h} from "../base/dom.js";
import {words} from "../base/format.js";
import {icon} from "./icons.js";

// state: [icon, tone]; tones are colours of the style sheet.
const looks = {
  waiting: ["circle", "wait"],
  delayed: ["clock", "wait"],
  rate_limited: ["gate", "hold"],
  waiting_children: ["hourglass", "wait"],
  suspended: ["pause", "hold"],
  active: ["play", "run"],
  completed: ["check", "good"],
  failed: ["cross", "bad"],
  cancelled: ["minus", "dead"],
  expired: ["clock", "bad"],
  skipped: ["skip", "dead"],
  building: ["build", "wait"],
  running: ["play", "run"],
  paused: ["pause", "hold"],
  success: ["check", "good"],
  failure: ["cross", "bad"],
  interrupted: ["warning", "hold"],
  ready: ["check", "good"],
  draining: ["pause", "hold"],
  exhausted: ["gate", "bad"],
  lost: ["warning", "bad"],
  open: ["circle", "good"],
};

export const executionStates = [
  "active",
  "waiting",
  "delayed",
  "waiting_children",
  "suspended",
  "rate_limited",
  "completed",
  "failed",
  "cancelled",
  "expired",
  "skipped",
];
export const flowStates = ["building", "running", "paused", "completed", "failed", "cancelled", "expired"];
export const isEnded = (state) => ["completed", "failed", "cancelled", "expired", "skipped"].includes(state);

export const toneOf = (state) => (looks[state] || ["dot", "dead"])[1];
export const iconOf = (state) => (looks[state] || ["dot", "dead"])[0];

export const badge = (state, text = words(state)) =>
  h("span", {class: `badge tone-${toneOf(state)}`}, icon(iconOf(state)), h("span", {}, text));
