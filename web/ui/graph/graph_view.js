// A graph on the page: lines on a canvas as large as what is seen, nodes as links above it, of which only those in
// sight exist. Scrolling moves over the drawing; the table beside it says the same.
import {h, replace} from "../base/dom.js";
import {count, words} from "../base/format.js";
import {href} from "../base/urls.js";
import {shortId} from "../base/format.js";
import {icon} from "../parts/icons.js";
import {iconOf, toneOf} from "../parts/state.js";
import {countsOf, fold, stateOf} from "./fold.js";
import {layoutInWorker} from "./worker_client.js";

const size = {width: 172, height: 38, layer: 214, gap: 14};
const margin = 24;
const beyond = 200; // pixels around what is seen that are drawn, too
const nodes_max = 400; // elements at a time
const scales = [0.25, 0.4, 0.6, 0.8, 1, 1.25];
const text_scale = 0.6; // smaller than that, nodes have no text

export class GraphView {
  constructor({signal}) {
    this.signal = signal;
    this.opened = new Set();
    this.scale = 1;
    this.canvas = h("canvas", {"aria-hidden": "true"});
    this.layer = h("div", {class: "graph-nodes"});
    this.space = h("div", {class: "graph-space"}, this.canvas, this.layer);
    this.box = h(
      "div",
      {
        class: "graph",
        tabindex: "0",
        role: "group",
        "aria-label": "Graph of the flow; the tab Nodes says the same as a table",
      },
      this.space,
    );
    this.note = h("span", {class: "quiet"});
    this.element = h("div", {class: "graph-box"}, this.toolbar(), this.box);
    this.box.addEventListener("scroll", () => this.ask(), {passive: true});
    const sized = new ResizeObserver(() => this.resize());
    sized.observe(this.box);
    const themed = window.matchMedia("(prefers-color-scheme: dark)");
    const onTheme = () => this.ask();
    themed.addEventListener("change", onTheme);
    signal.addEventListener("abort", () => (sized.disconnect(), themed.removeEventListener("change", onTheme)));
    this.dragging();
  }

  toolbar() {
    const step = (by) => {
      const next =
        by < 0
          ? [...scales].reverse().find((scale) => scale < this.scale)
          : scales.find((scale) => scale > this.scale);
      if (next) this.zoom(next);
    };
    const tool = (name, text, act) =>
      h("button", {type: "button", class: "plain", "aria-label": text, title: text, onclick: act}, icon(name));
    return h(
      "div",
      {class: "graph-tools", role: "toolbar", "aria-label": "Drawing"},
      tool("less", "Smaller", () => step(-1)),
      tool("plus", "Larger", () => step(1)),
      tool("fit", "Whole graph", () => this.fit()),
      h("button", {type: "button", class: "plain", onclick: () => this.showFrontier()}, "Where it stands"),
      this.note,
    );
  }

  dragging() {
    let from = null;
    this.box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target.closest("a, button")) return;
      from = {x: event.clientX + this.box.scrollLeft, y: event.clientY + this.box.scrollTop};
      this.box.setPointerCapture(event.pointerId);
    });
    this.box.addEventListener("pointermove", (event) => {
      if (from) this.box.scrollTo(from.x - event.clientX, from.y - event.clientY);
    });
    for (const name of ["pointerup", "pointercancel"]) this.box.addEventListener(name, () => (from = null));
  }

  // Shows nodes; lays them out again only if the graph is another one.
  async show(nodes) {
    this.nodes = nodes;
    const folded = fold(nodes, this.opened);
    const shape = `${folded.items.map(({key, nodes: members}) => `${key}×${members.length}`).join(";")}|${folded.edges.join(";")}`;
    this.items = folded.items;
    this.edges = folded.edges;
    if (shape === this.shape) return this.ask();
    const isFirst = this.shape === undefined;
    this.shape = shape;
    const began = performance.now();
    const drawn = await layoutInWorker({count: folded.items.length, edges: folded.edges, size});
    if (this.signal.aborted || shape !== this.shape) return;
    this.drawn = drawn;
    this.element.dataset.layoutMs = Math.round(performance.now() - began);
    replace(
      this.note,
      nodes.length === folded.items.length
        ? `${count(nodes.length)} nodes`
        : `${count(nodes.length)} nodes as ${count(folded.items.length)}`,
    );
    if (isFirst) this.begin();
    this.resize();
  }

  // Opened at the whole, if that can be read; else at what runs or failed.
  begin() {
    const wide = this.box.clientWidth / (this.drawn.width + 2 * margin);
    this.scale = Math.max(text_scale, Math.min(1, wide));
    this.resize();
    if (wide < text_scale || this.drawn.height * this.scale > this.box.clientHeight) this.showFrontier();
  }

  zoom(scale) {
    const middleX = (this.box.scrollLeft + this.box.clientWidth / 2) / this.scale;
    const middleY = (this.box.scrollTop + this.box.clientHeight / 2) / this.scale;
    this.scale = scale;
    this.resize();
    this.box.scrollTo(middleX * scale - this.box.clientWidth / 2, middleY * scale - this.box.clientHeight / 2);
  }

  fit() {
    const {width, height} = this.drawn;
    const wanted = Math.min(
      this.box.clientWidth / (width + 2 * margin),
      this.box.clientHeight / (height + 2 * margin),
    );
    this.zoom(Math.max(scales[0], Math.min(1, wanted)));
  }

  showFrontier() {
    if (!this.items) return;
    const find = (states) => this.items.findIndex((item) => states.includes(stateOf(item)));
    const at =
      [
        ["failed", "expired"],
        ["active", "suspended"],
        ["waiting", "delayed", "rate_limited"],
      ]
        .map(find)
        .find((found) => found >= 0) ?? 0;
    this.box.scrollTo(
      this.drawn.x[at] * this.scale + this.left - this.box.clientWidth / 3,
      this.drawn.y[at] * this.scale + this.top - this.box.clientHeight / 2,
    );
  }

  resize() {
    if (!this.drawn) return;
    const {clientWidth, clientHeight} = this.box;
    const width = (this.drawn.width + 2 * margin) * this.scale;
    const height = (this.drawn.height + 2 * margin) * this.scale;
    this.space.style.inlineSize = `${width}px`;
    this.space.style.blockSize = `${height}px`;
    // A small graph stands in the middle.
    this.left = margin * this.scale + Math.max(0, clientWidth - width) / 2;
    this.top = margin * this.scale + Math.max(0, clientHeight - height) / 2;
    this.ask();
  }

  ask() {
    if (this.asked || !this.drawn) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      if (!this.signal.aborted) this.draw();
    });
  }

  seen() {
    const {scrollLeft, scrollTop, clientWidth, clientHeight} = this.box;
    return {
      left: scrollLeft - beyond,
      top: scrollTop - beyond,
      right: scrollLeft + clientWidth + beyond,
      bottom: scrollTop + clientHeight + beyond,
    };
  }

  draw() {
    this.drawLines();
    const seen = this.seen();
    const focused = document.activeElement && document.activeElement.dataset.item;
    const shown = [];
    for (let at = 0; at < this.items.length && shown.length < nodes_max; ++at) {
      const x = this.drawn.x[at] * this.scale + this.left;
      const y = this.drawn.y[at] * this.scale + this.top;
      if (
        x + size.width * this.scale < seen.left ||
        x > seen.right ||
        y + size.height * this.scale < seen.top ||
        y > seen.bottom
      )
        continue;
      shown.push(this.nodeElement(this.items[at], x, y));
    }
    replace(this.layer, shown);
    if (focused === undefined) return;
    const again = shown.find((element) => element.dataset.item === focused);
    if (again) again.focus({preventScroll: true});
  }

  nodeElement(item, x, y) {
    const state = stateOf(item);
    const [node] = item.nodes;
    const many = item.nodes.length > 1;
    const small = this.scale < text_scale;
    const counts = countsOf(item)
      .map(([name, n]) => `${n} ${words(name)}`)
      .join(", ");
    const name = many ? `${node.kind} ×${item.nodes.length}` : node.name;
    const note = many ? counts : node.name === node.kind ? words(state) : node.kind;
    // Small or cut off, the text is still there for those who hear it.
    const said = many ? "; opens them" : `, ${words(state)}${node.reason ? `, ${node.reason}` : ""}`;
    const body = [
      icon(iconOf(state)),
      h("span", {class: small ? "heard" : "node-name"}, name),
      " ",
      h("span", {class: small ? "heard" : "node-note"}, note),
      h("span", {class: "heard"}, said),
    ];
    const attributes = {
      class: `node tone-${toneOf(state)}${many ? " is-many" : ""}`,
      title: `${name}: ${many ? counts : words(state)}${node.reason && !many ? `, ${node.reason}` : ""}`,
    };
    const element = many
      ? h("button", {type: "button", ...attributes, onclick: () => this.openGroup(item.key)}, body)
      : h("a", {...attributes, href: href("executions", {id: shortId(node.id)})}, body);
    element.dataset.item = item.key;
    element.style.transform = `translate(${x}px, ${y}px)`;
    element.style.inlineSize = `${size.width * this.scale}px`;
    element.style.blockSize = `${size.height * this.scale}px`;
    element.style.fontSize = `${Math.max(9, 12.5 * this.scale)}px`;
    return element;
  }

  openGroup(key) {
    this.opened.add(key);
    this.show(this.nodes);
  }

  drawLines() {
    const {clientWidth: width, clientHeight: height, scrollLeft, scrollTop} = this.box;
    const dots = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * dots) || this.canvas.height !== Math.round(height * dots)) {
      this.canvas.width = Math.round(width * dots);
      this.canvas.height = Math.round(height * dots);
      this.canvas.style.inlineSize = `${width}px`;
      this.canvas.style.blockSize = `${height}px`;
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.setTransform(
      dots * this.scale,
      0,
      0,
      dots * this.scale,
      dots * (this.left - scrollLeft),
      dots * (this.top - scrollTop),
    );
    const colours = getComputedStyle(this.box);
    const view = {
      left: (scrollLeft - this.left) / this.scale,
      top: (scrollTop - this.top) / this.scale,
      right: (scrollLeft + width - this.left) / this.scale,
      bottom: (scrollTop + height - this.top) / this.scale,
    };
    pen.lineWidth = 1.4;
    this.edges.forEach(([from, to], at) => {
      const line = this.drawn.lines[at];
      if (isOutside(line, view)) return;
      const done = stateOf(this.items[from]) === "completed";
      pen.strokeStyle = colours.getPropertyValue(done ? "--line-done" : "--line-open");
      pen.setLineDash(stateOf(this.items[to]) === "skipped" ? [4, 4] : []);
      drawLine(pen, line);
    });
  }
}

function isOutside(line, view) {
  const [first] = line;
  const last = line[line.length - 1];
  if (last[0] < view.left || first[0] > view.right) return true;
  return line.every(([, y]) => y < view.top) || line.every(([, y]) => y > view.bottom);
}

function drawLine(pen, line) {
  pen.beginPath();
  pen.moveTo(...line[0]);
  for (let at = 1; at < line.length; ++at) {
    const [fromX, fromY] = line[at - 1];
    const [x, y] = line[at];
    const bend = (x - fromX) / 2;
    pen.bezierCurveTo(fromX + bend, fromY, x - bend, y, x, y);
  }
  pen.stroke();
}
