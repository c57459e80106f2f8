// How far a flow is, as a bar of its nodes' ends, with the numbers beside it.
import {h} from "../base/dom.js";
import {count, words} from "../base/format.js";
import {toneOf} from "../parts/state.js";

const ends = ["completed", "failed", "expired", "cancelled", "skipped"];

export function nodeBar(counts) {
  const parts = ends.filter((state) => counts[state] > 0);
  const ended = parts.reduce((sum, state) => sum + counts[state], 0);
  const said = `${count(ended)} of ${count(counts.nodes)} ended${parts.map((state) => `, ${count(counts[state])} ${words(state)}`).join("")}`;
  const bar = h(
    "span",
    {class: "node-bar", role: "img", "aria-label": said, title: said},
    parts.map((state) => {
      const part = h("span", {class: `tone-${toneOf(state)}`});
      part.style.inlineSize = `${(100 * counts[state]) / Math.max(1, counts.nodes)}%`;
      return part;
    }),
  );
  return h("span", {class: "node-count"}, bar, h("span", {class: "quiet"}, `${count(ended)}/${count(counts.nodes)}`));
}
