// What happens, as it happens.
import {h, replace} from "../base/dom.js";
import {count, shortId, words} from "../base/format.js";
import {clock, exact} from "../base/time.js";
import {href} from "../base/urls.js";
import {follow, isFrozen, onLiveState, setFrozen} from "../api/live.js";
import {button, executionLink, flowLink} from "../parts/bits.js";
import {filterBar, filterValues} from "../parts/filter_bar.js";
import {emptyBox} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {badge} from "../parts/state.js";
import {Table} from "../parts/table.js";

const kept_max = 50_000;
const kept_slack = 5_000;

const filters = [
  {name: "types", label: "Types", placeholder: "completed,failed"},
  {name: "kind", label: "Kind", placeholder: "any"},
  {name: "lane", label: "Lane", placeholder: "any"},
  {name: "tag", label: "Tag", placeholder: "key=value"},
  {name: "id", label: "Execution", placeholder: "id"},
  {name: "flow", label: "Flow", placeholder: "id"},
];

const isOfFlow = (event) => event.type.startsWith("flow_");

const columns = [
  {
    key: "at",
    title: "Time",
    className: "col-clock",
    cell: (row) => h("span", {title: exact(row.at_ms)}, clock(row.at_ms)),
  },
  {key: "type", title: "Event", className: "col-event", cell: (row) => h("strong", {}, words(row.type))},
  {key: "state", title: "State", className: "col-state", cell: (row) => (row.state ? badge(row.state) : "")},
  {key: "kind", title: "Kind", className: "col-kind", cell: (row) => row.kind || ""},
  {
    key: "id",
    title: "Subject",
    className: "col-id",
    cell: (row) => (isOfFlow(row) ? flowLink(row.subject) : executionLink(row.subject)),
  },
  {key: "lane", title: "Lane", className: "col-lane wide", cell: (row) => row.lane || ""},
  {
    key: "tries",
    title: "Tries",
    className: "num wide",
    cell: (row) => (row.attempts === undefined ? "" : count(row.attempts)),
  },
  {
    key: "flow",
    title: "Flow",
    className: "col-id wide",
    cell: (row) => (row.flow && !isOfFlow(row) ? flowLink(row.flow) : ""),
  },
];

class EventsPage {
  constructor(view) {
    this.view = view;
    this.rows = [];
    this.number = 0;
    this.total = h("span", {class: "quiet"});
    this.freezer = button("Freeze", () => setFrozen(!isFrozen()), {symbol: "pause"});
    this.table = new Table({
      columns,
      label: "Events",
      open: (row) => view.navigate(href(isOfFlow(row) ? "flows" : "executions", {id: shortId(row.subject)})),
      empty: () => emptyBox("Nothing has happened since this page was opened.", "Events appear here as they happen."),
    });
  }

  take(events) {
    const made = events.map((event) => ({...event, subject: event.id, id: String(++this.number)}));
    this.rows = made.reverse().concat(this.rows);
    if (this.rows.length > kept_max + kept_slack) this.rows.length = kept_max;
    this.draw(made.length);
  }

  // The newest are on top. Who has scrolled away from there keeps seeing the same rows.
  draw(added) {
    const {element} = this.table;
    const wasAway = element.scrollTop > 0;
    this.table.setRows(this.rows);
    if (wasAway) element.scrollTop += added * Table.rowHeight;
    replace(this.total, `${count(this.rows.length)} shown`);
  }

  restart() {
    if (this.control) this.control.abort();
    this.control = new AbortController();
    this.view.signal.addEventListener("abort", () => this.control.abort());
    this.rows = [];
    this.draw(0);
    const {failure} = this;
    replace(failure);
    follow({
      filter: {namespace: this.view.namespace, ...filterValues(this.view, filters)},
      onEvents: (events) => this.take(events),
      onGap: () => replace(this.total, `${count(this.rows.length)} shown; some were missed`),
      onRefused: (problem) => replace(failure, emptyBox(problem.message)),
      signal: this.control.signal,
    });
  }

  show() {
    const {view} = this;
    view.setTitle("Events");
    this.failure = h("div", {role: "alert"});
    replace(
      view.element,
      pageHead("Events", {
        sub: this.total,
        actions: [
          this.freezer,
          button("Clear", () => {
            this.rows = [];
            this.draw(0);
          }),
        ],
      }),
      filterBar(view, filters, () => this.restart()),
      this.failure,
      h("div", {class: "list"}, this.table.element),
    );
    view.key("j", "Next row", () => this.table.move(1));
    view.key("k", "Row before", () => this.table.move(-1));
    view.key("Enter", "Open the row", () => this.table.openActive());
    onLiveState(() => replace(this.freezer, isFrozen() ? "Go on" : "Freeze"), view.signal);
    this.restart();
  }
}

export const events = (view) => new EventsPage(view).show();
