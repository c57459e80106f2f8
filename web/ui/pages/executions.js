// The list of executions, the newest first.
import {h, replace} from "../base/dom.js";
import {count, shortId, words} from "../base/format.js";
import {time} from "../base/time.js";
import {href} from "../base/urls.js";
import {get} from "../api/http.js";
import {badge, executionStates, isEnded} from "../parts/state.js";
import {button, executionLink, tagChips} from "../parts/bits.js";
import {filterBar, filterValues} from "../parts/filter_bar.js";
import {ListPage, noMatch} from "../parts/list_page.js";
import {pageHead} from "../parts/page.js";
import {may} from "../session.js";
import {cancelDialog, priorityDialog, replayDialog, submitDialog, tagsDialog} from "./execution_actions.js";

const page_size = 100;

const filters = [
  {name: "state", label: "State", options: [["", "any"], ...executionStates.map((state) => [state, words(state)])]},
  {name: "kind", label: "Kind", placeholder: "any"},
  {name: "lane", label: "Lane", placeholder: "any"},
  {name: "tag", label: "Tag", placeholder: "key=value"},
  {name: "from", label: "Created from", placeholder: "2h, or a date"},
];

// "2h" is two hours ago; anything else is read as a date.
function readFrom(text) {
  const found = /^(\d+)\s*([smhd])$/.exec(text || "");
  if (found) return Date.now() - Number(found[1]) * {s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000}[found[2]];
  const at = Date.parse(text || "");
  return Number.isNaN(at) ? undefined : at;
}

// The most telling thing about an execution, in a few words.
export function gist(row) {
  if (row.failure_reason) return row.failure_reason;
  if (row.cancel_reason) return row.cancel_reason;
  if (row.blocking_detail) return row.blocking_detail;
  if (row.progress && row.state === "active") return `${row.progress.percent}% ${row.progress.message || ""}`;
  if (row.worker && row.state === "active") return `on ${row.worker}`;
  const reason = row.state_vector && row.state_vector.blocking_reason;
  return reason && reason !== "none" && !isEnded(row.state) ? words(reason) : "";
}

const columns = [
  {key: "state", title: "State", className: "col-state", cell: (row) => badge(row.state)},
  {key: "kind", title: "Kind", className: "col-kind", cell: (row) => row.kind},
  {key: "id", title: "Execution", className: "col-id", cell: (row) => executionLink(row.id)},
  {key: "lane", title: "Lane", className: "col-lane", cell: (row) => row.lane},
  {
    key: "detail",
    title: "Detail",
    className: "col-detail",
    cell: (row) => h("span", {class: row.failure_reason ? "tone-bad-text" : "quiet", title: gist(row)}, gist(row)),
  },
  {key: "tags", title: "Tags", className: "col-tags wider", cell: (row) => tagChips(row.tags)},
  {key: "priority", title: "Prio", className: "num wider", cell: (row) => count(row.priority)},
  {key: "attempts", title: "Tries", className: "num wide", cell: (row) => count(row.attempts)},
  {key: "created", title: "Created", className: "col-time", cell: (row) => time(row.created_at_ms)},
  {key: "ended", title: "Ended", className: "col-time wide", cell: (row) => time(row.completed_at_ms)},
];

class ExecutionsPage {
  constructor(view) {
    this.view = view;
    this.list = new ListPage(view, {
      columns,
      label: "Executions",
      noun: "execution",
      selectable: may("submit"),
      fetchPage: (cursor) => this.fetchPage(cursor),
      open: (row) => view.navigate(href("executions", {id: shortId(row.id)})),
      onSelect: (rows) => this.showSelection(rows),
      empty: () =>
        noMatch(view, filters, "execution", "Submit one here, or with ", h("code", {}, "ff submit KIND PAYLOAD")),
    });
    this.selection = h("div", {
      class: "selection",
      role: "toolbar",
      "aria-label": "Selected executions",
      hidden: true,
    });
  }

  async fetchPage(cursor) {
    const {from, ...rest} = filterValues(this.view, filters);
    const query = {
      namespace: this.view.namespace,
      ...rest,
      created_from_ms: readFrom(from),
      limit: page_size,
      cursor,
    };
    const {executions: rows, next} = await get("v1/executions", query, this.view.signal);
    return {rows, next};
  }

  showSelection(rows) {
    const {table} = this.list;
    const changed = () => {
      table.clearSelection();
      this.list.update();
    };
    this.selection.hidden = rows.length === 0;
    replace(
      this.selection,
      h("strong", {}, `${count(rows.length)} selected`),
      button("Cancel…", () => cancelDialog(rows, changed)),
      button("Replay…", () => replayDialog(rows, changed)),
      button("Priority…", () => priorityDialog(rows, changed)),
      button("Tags…", () => tagsDialog(rows, changed)),
      button("Clear", () => table.clearSelection(), {kind: "plain"}),
    );
  }

  submit() {
    const {view} = this;
    submitDialog({namespace: view.namespace, kind: view.query.get("kind"), lane: view.query.get("lane")}, ({id}) =>
      view.navigate(href("executions", {id: shortId(id)})),
    );
  }

  show() {
    const {view, list} = this;
    view.setTitle("Executions");
    const actions = may("submit") ? button("Submit…", () => this.submit(), {kind: "primary", symbol: "plus"}) : null;
    replace(
      view.element,
      pageHead("Executions", {sub: list.total, actions}),
      filterBar(view, filters, () => list.reload()),
      list.failure,
      this.selection,
      list.list,
    );
    view.key("x", "Select the row", () => list.table.toggleActive());
    view.key("n", "Submit an execution", () => this.submit());
    list.reload();
    view.refreshOn(
      {},
      () => list.update(),
      (events) => list.patchFromEvents(events),
    );
  }
}

export const executions = (view) => new ExecutionsPage(view).show();
