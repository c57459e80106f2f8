// Elements from data. Whatever comes from outside reaches the page as text nodes only.
import {needsMarks, splitMarks, plainText} from "./text.js";

const svgSpace = "http://www.w3.org/2000/svg";
const spoken = new Set(["title", "aria-label", "placeholder"]);

// A text as nodes; characters that one cannot see are shown by their code point.
function textNodes(text) {
  if (!needsMarks(text)) return [document.createTextNode(text)];
  return splitMarks(text).map((part) => {
    if (!part.mark) return document.createTextNode(part.text);
    const mark = document.createElement("span");
    mark.className = "mark";
    mark.textContent = part.mark;
    return mark;
  });
}

export function append(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) parent.append(child);
    else parent.append(...textNodes(String(child)));
  }
  return parent;
}

function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) return element.addEventListener(name.slice(2), value);
  if (name === "value") return void (element.value = value);
  if (name === "indeterminate") return void (element.indeterminate = value);
  const text = value === true ? "" : String(value);
  element.setAttribute(name, spoken.has(name) ? plainText(text) : text);
}

// h("a", {class: "id", href}, "text", node, [more]): null and false children are left out.
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  return append(element, ...children);
}

// The same for drawings.
export function s(name, attributes = {}, ...children) {
  const element = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  return append(element, ...children);
}

export function replace(element, ...children) {
  element.replaceChildren();
  return append(element, ...children);
}
