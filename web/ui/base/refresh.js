// Shows newer data where older was, changing only what differs: focus, an open menu and a button that is being pressed
// stay. A button must say in data-key what it acts on; without that it is always replaced, as its function might
// be about something else.
import {append} from "./dom.js";

const acts = (node) => node instanceof Element && node.matches("button, input, select, textarea");

function sameAttributes(old, fresh) {
  const kept = (name) => name === "open" && old.nodeName === "DETAILS"; // opened by the reader
  const names = old.getAttributeNames().filter((name) => !kept(name));
  return (
    names.length === fresh.getAttributeNames().length &&
    names.every((name) => old.getAttribute(name) === fresh.getAttribute(name))
  );
}

// Whether `old` can stay, with its children brought in line.
function canStay(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.nodeType !== fresh.nodeType) return false;
  if (!(old instanceof Element)) return true;
  if (acts(old) && (old.dataset.key === undefined || old.textContent !== fresh.textContent)) return false;
  return sameAttributes(old, fresh);
}

function align(old, fresh) {
  if (!canStay(old, fresh)) return void swap(old, fresh);
  if (old instanceof Text) {
    if (old.data !== fresh.data) old.data = fresh.data;
  } else if (!acts(old)) {
    alignChildren(old, fresh);
  }
}

// Focus goes over to what has the same key.
function swap(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  old.replaceWith(fresh);
  if (focused === undefined) return;
  const again = [fresh, ...fresh.querySelectorAll("[data-key]")].find((element) => element.dataset.key === focused);
  if (again) again.focus({preventScroll: true});
}

function alignChildren(old, fresh) {
  const before = [...old.childNodes];
  const after = [...fresh.childNodes];
  after.forEach((node, at) => (at < before.length ? align(before[at], node) : old.append(node)));
  before.slice(after.length).forEach((node) => node.remove());
}

export function refresh(element, ...children) {
  alignChildren(element, append(document.createElement(element.tagName), ...children));
}
