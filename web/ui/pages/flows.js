// The list of flows, the newest first.
import {h, replace} from "../base/dom.js";
import {count, shortId, words} from "../base/format.js";
import {time} from "../base/time.js";
import {href} from "../base/urls.js";
import {get} from "../api/http.js";
import {flowLink, tagChips} from "../parts/bits.js";
import {filterBar, filterValues} from "../parts/filter_bar.js";
import {ListPage, noMatch} from "../parts/list_page.js";
import {pageHead} from "../parts/page.js";
import {badge, flowStates} from "../parts/state.js";
import {nodeBar} from "./flow_counts.js";

const page_size = 100;

const filters = [
  {name: "state", label: "State", options: [["", "any"], ...flowStates.map((state) => [state, words(state)])]},
  {name: "kind", label: "Kind", placeholder: "any"},
  {name: "tag", label: "Tag", placeholder: "key=value"},
];

const columns = [
  {key: "state", title: "State", className: "col-state", cell: (row) => badge(row.state)},
  {key: "kind", title: "Kind", className: "col-kind", cell: (row) => row.kind},
  {key: "id", title: "Flow", className: "col-id", cell: (row) => flowLink(row.id)},
  {key: "nodes", title: "Nodes", className: "col-nodes", cell: (row) => nodeBar(row.counts)},
  {
    key: "reason",
    title: "Reason",
    className: "col-detail",
    cell: (row) => h("span", {class: "quiet", title: row.reason || ""}, row.reason || ""),
  },
  {key: "tags", title: "Tags", className: "col-tags wide", cell: (row) => tagChips(row.tags)},
  {key: "generation", title: "Redrives", className: "num wide", cell: (row) => count(row.generation)},
  {key: "created", title: "Created", className: "col-time", cell: (row) => time(row.created_at_ms)},
  {key: "ended", title: "Ended", className: "col-time wide", cell: (row) => time(row.ended_at_ms)},
];

export function flows(view) {
  view.setTitle("Flows");
  const fetchPage = async (cursor) => {
    const query = {namespace: view.namespace, ...filterValues(view, filters), limit: page_size, cursor};
    const {flows: rows, next} = await get("v1/flows", query, view.signal);
    return {rows, next};
  };
  const list = new ListPage(view, {
    columns,
    label: "Flows",
    noun: "flow",
    fetchPage,
    open: (row) => view.navigate(href("flows", {id: shortId(row.id)})),
    empty: () => noMatch(view, filters, "flow", "Submit one with ", h("code", {}, "ff flow submit FILE")),
  });
  replace(
    view.element,
    pageHead("Flows", {sub: list.total}),
    filterBar(view, filters, () => list.reload()),
    list.failure,
    list.list,
  );
  list.reload();
  view.refreshOn({}, () => list.update());
}
