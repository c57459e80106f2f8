// Small parts that many pages share.
import {h} from "../base/dom.js";
import {idTail, shortId} from "../base/format.js";
import {href} from "../base/urls.js";
import {icon} from "./icons.js";
import {toast} from "./messages.js";

export const link = (page, where, ...children) => h("a", {href: href(page, where)}, ...children);

export const executionLink = (id, text = idTail(id)) =>
  h("a", {href: href("executions", {id: shortId(id)}), class: "id", title: shortId(id)}, text);
export const flowLink = (id, text = idTail(id)) =>
  h("a", {href: href("flows", {id: shortId(id)}), class: "id", title: shortId(id)}, text);

export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied ${what}`);
  } catch {
    toast("This browser does not let the page copy", "bad");
  }
}

export const copyButton = (text, what) =>
  h(
    "button",
    {
      type: "button",
      class: "plain small",
      "data-key": `copy-${text}`,
      title: `Copy ${what}`,
      "aria-label": `Copy ${what}`,
      onclick: () => copyText(text, what),
    },
    icon("copy"),
  );

export const button = (text, act, {kind, symbol, ...attributes} = {}) =>
  h("button", {type: "button", class: kind || null, onclick: act, ...attributes}, symbol ? icon(symbol) : null, text);

// [[term, value], …] without those that have none.
export const facts = (rows) =>
  h(
    "dl",
    {class: "facts"},
    rows
      .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
      .map(([term, ...value]) => h("div", {}, h("dt", {}, term), h("dd", {}, ...value))),
  );

export const chips = (list) =>
  h(
    "span",
    {class: "chips"},
    list.map((text) => h("span", {class: "chip"}, text)),
  );

export const tagChips = (tags) => chips(Object.entries(tags || {}).map(([key, value]) => `${key}=${value}`));

export function card(title, {actions, tone, id} = {}, ...children) {
  const name = id || `card-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return h(
    "section",
    {class: tone ? `card tone-${tone}` : "card", "aria-labelledby": name},
    h("header", {}, h("h2", {id: name}, title), actions ? h("div", {class: "actions"}, actions) : null),
    ...children,
  );
}

export function meter(label, used, limit) {
  const share = Number(limit) > 0 ? Number(used) / Number(limit) : 0;
  const bar = h("span", {class: "meter-fill"});
  bar.style.inlineSize = `${Math.min(100, 100 * share)}%`;
  const tone = share >= 1 ? "bad" : share >= 0.8 ? "hold" : "run";
  return h("div", {class: `meter tone-${tone}`, role: "img", "aria-label": `${label}: ${used} of ${limit}`}, bar);
}

// Tabs are links: the one that is open is part of the address. tabs: [[name, text], …].
export const tabs = (list, open, select) =>
  h(
    "div",
    {class: "tabs", role: "tablist"},
    list.map(([name, text]) =>
      h(
        "button",
        {
          type: "button",
          role: "tab",
          "aria-selected": String(name === open),
          tabindex: name === open ? "0" : "-1",
          "data-key": `tab-${name}`,
          onclick: () => select(name),
          onkeydown: (event) => moveTab(event, list, name, select),
        },
        text,
      ),
    ),
  );

function moveTab(event, list, name, select) {
  const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
  if (!step) return;
  event.preventDefault();
  const at = list.findIndex(([other]) => other === name);
  const [next] = list[(at + step + list.length) % list.length];
  const {parentElement} = event.target;
  select(next);
  const found = document.querySelector(`[data-key="tab-${next}"]`) || parentElement;
  found.focus();
}
