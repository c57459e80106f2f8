// Spans of time as bars on one axis. What it shows is also in a table, which the caller puts beside it.
import {h} from "../base/dom.js";
import {duration} from "../base/format.js";
import {exact, now} from "../base/time.js";
import {toneOf} from "./state.js";

const least_percent = 0.6;
const text_percent = 16; // narrower bars have their text beside them

function bar({from, to, state, text}, start, whole) {
  const end = to === undefined ? now() : to;
  const element = h(
    "span",
    {
      class: `gantt-bar tone-${toneOf(state)}${to === undefined ? " is-open" : ""}`,
      title: `${text}: ${exact(from)}, ${duration(end - from)}`,
    },
    h("span", {class: "gantt-text"}, text),
  );
  const left = (100 * (from - start)) / whole;
  element.style.insetInlineStart = `${Math.min(left, 100 - least_percent)}%`;
  const width = Math.max(least_percent, (100 * (end - from)) / whole);
  element.style.inlineSize = `${width}%`;
  return width >= text_percent
    ? element
    : [element, beside(element, Math.min(left, 100 - least_percent), width, text)];
}

// The text of a bar that is too narrow for it: on the side with more room.
function beside(element, left, width, text) {
  element.replaceChildren();
  const name = h("span", {class: "gantt-beside"}, text);
  if (left > 50) name.style.insetInlineEnd = `${100 - left}%`;
  else name.style.insetInlineStart = `${left + width}%`;
  return name;
}

// rows: [{label, spans: [{from, to?, state, text}]}]
export function gantt(label, rows, start, end) {
  const whole = Math.max(1, end - start);
  const marks = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const mark = h("span", {class: "gantt-mark"}, share === 0 ? "0" : `+${duration(share * whole)}`);
    mark.style.insetInlineStart = `${100 * share}%`;
    return mark;
  });
  return h(
    "div",
    {class: "gantt", role: "img", "aria-label": label},
    rows.map((row) =>
      h(
        "div",
        {class: "gantt-row"},
        h("span", {class: "gantt-label"}, row.label),
        h(
          "span",
          {class: "gantt-track"},
          row.spans.map((span) => bar(span, start, whole)),
        ),
      ),
    ),
    h(
      "div",
      {class: "gantt-row gantt-axis"},
      h("span", {class: "gantt-label"}),
      h("span", {class: "gantt-track"}, marks),
    ),
  );
}
