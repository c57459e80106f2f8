// One flow: its graph with live states, the same as a table, and what its nodes write.
import {h, replace} from "../base/dom.js";
import {count, duration, plural, shortId, words} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {now, time} from "../base/time.js";
import {href, path} from "../base/urls.js";
import {get} from "../api/http.js";
import {GraphView} from "../graph/graph_view.js";
import {button, copyButton, executionLink, facts, link, tabs, tagChips} from "../parts/bits.js";
import {Log} from "../parts/log.js";
import {emptyBox, fail, problemBox} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {badge} from "../parts/state.js";
import {Table} from "../parts/table.js";
import {may} from "../session.js";
import {cancelDialog, pauseDialog, redriveDialog, resumeFlow} from "./flow_actions.js";
import {nodeBar} from "./flow_counts.js";

const page_size = 1000;
const nodes_max = 10_000;
const reread_ms = 3000; // the nodes, while the flow changes; their states come with the events
const tabList = [
  ["graph", "Graph"],
  ["nodes", "Nodes"],
  ["output", "Output"],
];

const took = (row) => (row.started_at_ms ? duration((row.ended_at_ms || now()) - row.started_at_ms) : "");

const columns = [
  {
    key: "name",
    title: "Node",
    className: "col-kind",
    cell: (row) => executionLink(row.node.id, row.node.name),
    sort: (row) => row.node.name,
  },
  {
    key: "state",
    title: "State",
    className: "col-state",
    cell: (row) => badge(row.node.state),
    sort: (row) => row.node.state,
  },
  {key: "kind", title: "Kind", className: "col-kind", cell: (row) => row.node.kind, sort: (row) => row.node.kind},
  {
    key: "lane",
    title: "Lane",
    className: "col-lane wide",
    cell: (row) => row.node.lane,
    sort: (row) => row.node.lane,
  },
  {
    key: "after",
    title: "After",
    className: "col-detail",
    cell: (row) => {
      const text = row.node.after
        .map(({node, on}) => (on && on !== "succeeded" ? `${node} (${on})` : node))
        .join(", ");
      return h("span", {class: "quiet", title: text}, text);
    },
  },
  {
    key: "tries",
    title: "Tries",
    className: "num wide",
    cell: (row) => count(row.node.attempts),
    sort: (row) => row.node.attempts,
  },
  {
    key: "took",
    title: "Took",
    className: "num",
    cell: (row) => took(row.node),
    sort: (row) => (row.node.ended_at_ms || now()) - (row.node.started_at_ms || now()),
  },
  {key: "worker", title: "Worker", className: "col-lane wide", cell: (row) => row.node.worker || ""},
  {
    key: "reason",
    title: "Reason",
    className: "col-detail",
    cell: (row) => h("span", {title: row.node.reason || ""}, row.node.reason || ""),
  },
];

const hasEnded = (state) => ["completed", "failed", "cancelled", "expired"].includes(state);

class FlowPage {
  constructor(view) {
    this.view = view;
    this.where = path`v1/flows/${shortId(view.id)}`;
    this.head = h("div", {});
    this.tabBox = h("div", {});
    this.content = h("div", {class: "tab-content", role: "tabpanel"});
    this.nodes = [];
  }

  tab() {
    return this.view.query.get("tab") || "graph";
  }

  async readNodes() {
    const nodes = [];
    let from = 0;
    do {
      const page = await get(`${this.where}/nodes`, {from, limit: page_size}, this.view.signal);
      nodes.push(...page.nodes);
      from = page.next;
    } while (from !== undefined && nodes.length < nodes_max);
    this.nodes = nodes;
    this.cut = from !== undefined;
  }

  async load({withNodes}) {
    try {
      this.flow = await get(this.where, {}, this.view.signal);
      const another = this.flow.revision !== this.revision || hasEnded(this.flow.state) !== this.wasEnded;
      if (withNodes || another || Date.now() - (this.readAt || 0) > reread_ms) {
        await this.readNodes();
        this.readAt = Date.now();
        this.revision = this.flow.revision;
        this.wasEnded = hasEnded(this.flow.state);
      } else {
        this.rereadLater();
      }
    } catch (problem) {
      if (problem.name !== "AbortError") this.showProblem(problem);
      return;
    }
    this.showHead();
    this.showNodes();
    if (!this.tabShown) this.openTab();
  }

  rereadLater() {
    clearTimeout(this.rereadTimer);
    this.rereadTimer = setTimeout(() => this.view.signal.aborted || this.ask(), reread_ms);
  }

  showProblem(problem) {
    if (this.flow && problem.status !== 404) return;
    replace(
      this.view.element,
      pageHead("Flow"),
      problem.status === 404
        ? emptyBox(
            "There is no such flow.",
            "It may have been removed after its retention. ",
            link("flows", {}, "All flows"),
          )
        : problemBox(problem, () => this.show()),
    );
  }

  // States come with the events; what else changed is read again, less often.
  take(events) {
    const last = new Map(events.filter(({state}) => state).map((event) => [event.id, event]));
    let changed = false;
    this.nodes = this.nodes.map((node) => {
      const event = last.get(node.id);
      if (!event || event.state === node.state) return node;
      changed = true;
      return {...node, state: event.state, attempts: event.attempts ?? node.attempts};
    });
    if (changed) this.showNodes();
  }

  actions() {
    const {flow, nodes} = this;
    if (!may("submit")) return [];
    const changed = () => this.load({withNodes: true});
    const ended = hasEnded(flow.state);
    const dead = nodes.some(({state}) => ["failed", "expired", "cancelled"].includes(state));
    return [
      ended || dead
        ? button("Redrive…", () => redriveDialog(flow, this.nodes, changed), {kind: "primary", "data-key": "redrive"})
        : null,
      flow.state === "paused"
        ? button("Resume", () => resumeFlow(flow, changed).catch(fail), {kind: "primary", "data-key": "resume"})
        : null,
      flow.state === "running" ? button("Pause…", () => pauseDialog(flow, changed), {"data-key": "pause"}) : null,
      ended ? null : button("Cancel…", () => cancelDialog(flow, changed), {kind: "danger", "data-key": "cancel"}),
    ];
  }

  showHead() {
    const {flow} = this;
    this.view.setTitle(`${flow.kind || "flow"} ${words(flow.state)}`);
    refresh(
      this.head,
      pageHead([badge(flow.state), " ", flow.kind || "flow"], {
        sub: [
          h("code", {class: "id"}, shortId(flow.id)),
          copyButton(shortId(flow.id), "the id"),
          " created ",
          time(flow.created_at_ms),
          flow.ended_at_ms ? [" ended ", time(flow.ended_at_ms)] : null,
        ],
        actions: this.actions(),
      }),
      h(
        "div",
        {class: "flow-facts"},
        nodeBar(flow.counts),
        facts([
          ["Reason", flow.reason],
          ["On failure", words(flow.on_failure)],
          ["Redriven", flow.generation > 0 && plural(flow.generation, "time")],
          ["Edges", count(flow.edges)],
          ["Result of", flow.result && this.nameOf(flow.result)],
          ["Node of", flow.parent && executionLink(flow.parent)],
          ["Tags", flow.tags && Object.keys(flow.tags).length > 0 && tagChips(flow.tags)],
        ]),
      ),
    );
  }

  nameOf(id) {
    const node = this.nodes.find((one) => one.id === id);
    return executionLink(id, node ? node.name : undefined);
  }

  showNodes() {
    if (this.graph) this.graph.show(this.nodes).catch(fail);
    if (this.table) {
      const old = new Map(this.table.rows.map((row) => [row.id, row]));
      this.table.setRows(
        this.nodes.map((node) =>
          old.has(node.id) && old.get(node.id).node === node ? old.get(node.id) : {id: node.id, node},
        ),
      );
    }
  }

  openTab() {
    if (this.tabControl) this.tabControl.abort();
    this.tabControl = new AbortController();
    this.view.signal.addEventListener("abort", () => this.tabControl.abort());
    const {signal} = this.tabControl;
    const tab = this.tab();
    this.tabShown = tab;
    this.graph = null;
    this.table = null;
    replace(
      this.tabBox,
      tabs(tabList, tab, (name) => {
        this.view.setQuery({tab: name === "graph" ? "" : name});
        this.openTab();
      }),
      this.cut ? h("p", {class: "quiet"}, `The first ${plural(this.nodes.length, "node")} are shown.`) : null,
    );
    if (tab === "output") {
      const log = new Log({label: "Output of all nodes"});
      replace(this.content, log.element);
      return void log.follow(`${this.where}/stream`, "after", signal);
    }
    if (tab === "nodes") {
      const sort = this.view.query.get("sort");
      this.table = new Table({
        columns,
        label: "Nodes",
        open: (row) => this.view.navigate(href("executions", {id: shortId(row.id)})),
        sort: sort ? {key: sort.replace(/^-/, ""), down: sort.startsWith("-")} : undefined,
        onSort: ({key, down}) => this.view.setQuery({sort: `${down ? "-" : ""}${key}`}),
        empty: () => emptyBox("It has no nodes yet."),
      });
      replace(this.content, h("div", {class: "list"}, this.table.element));
    } else {
      this.graph = new GraphView({signal});
      replace(this.content, this.graph.element);
    }
    this.showNodes();
  }

  show() {
    const {view} = this;
    view.setTitle("Flow");
    replace(view.element, this.head, this.tabBox, this.content);
    view.key("j", "Next node of the table", () => this.table && this.table.move(1));
    view.key("k", "Node before", () => this.table && this.table.move(-1));
    view.key("Enter", "Open the node", () => this.table && this.table.openActive());
    this.ask = view.refreshOn(
      {flow: shortId(view.id), namespace: ""},
      () => this.load({withNodes: false}),
      (events) => this.take(events),
    );
  }
}

export const flow = (view) => new FlowPage(view).show();
