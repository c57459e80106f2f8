// Keys of the whole dashboard. They rest while somebody types, while a dialog is open, and if they are switched off.
import {prefs} from "./prefs.js";

const sequence_ms = 1200;
const actions = new Map(); // "g e": {act, text}
let prefix = "";
let prefixAt = 0;

// `act` of a page's key gets nothing; the same key set again replaces the one before.
export function setKey(keys, text, act) {
  actions.set(keys, {text, act});
}

export const dropKey = (keys) => actions.delete(keys);
export const allKeys = () => [...actions].map(([keys, {text}]) => [keys, text]);

const types = (target) =>
  target.closest && target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!prefs().keys || types(event.target) || document.querySelector("dialog[open]")) return;
  const follows = prefix !== "" && Date.now() - prefixAt < sequence_ms;
  const keys = follows ? `${prefix} ${event.key}` : event.key;
  prefix = "";
  const found = actions.get(keys);
  if (found) {
    // On a link or a button, Enter does what it says.
    if (event.key === "Enter" && event.target.closest("a, button, summary, input")) return;
    event.preventDefault();
    found.act();
  } else if ([...actions.keys()].some((other) => other.startsWith(`${keys} `))) {
    prefix = keys;
    prefixAt = Date.now();
  }
}

export const listenForKeys = () => document.addEventListener("keydown", onKey);
