// Workers: what they can do, whether they are alive, and what they hold.
import {h, replace} from "../base/dom.js";
import {count, duration, shortId} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {countdown, now, time} from "../base/time.js";
import {path} from "../base/urls.js";
import {get, ifKnown, post} from "../api/http.js";
import {button, chips, executionLink} from "../parts/bits.js";
import {filterBar} from "../parts/filter_bar.js";
import {emptyBox, fail, problemBox, toast} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {badge} from "../parts/state.js";
import {plainTable} from "../parts/table.js";
import {may} from "../session.js";

const leases_shown_max = 20; // of one worker
const filters = [
  {name: "lane", label: "Lane", placeholder: "any"},
  {name: "worker", label: "Name", placeholder: "part of it"},
];

const stateOf = (worker) => (worker.expires_at_ms < now() ? "lost" : worker.draining ? "draining" : "ready");

async function drain(worker, on, changed) {
  try {
    await post(path`v1/workers/${worker.worker}/drain`, {namespace: worker.namespace, draining: on});
    toast(on ? `${worker.worker} takes no further work` : `${worker.worker} takes work again`);
    changed();
  } catch (problem) {
    fail(problem);
  }
}

// The leases of a worker, each with what is left of it.
async function leases(worker, signal) {
  const shown = worker.running.slice(0, leases_shown_max);
  const infos = await Promise.all(
    shown.map((id) => ifKnown(get(path`v1/executions/${shortId(id)}`, {}, signal)).catch(() => undefined)),
  );
  return shown.map((id, at) => ({id, info: infos[at]}));
}

const columnsFor = (held, changed) =>
  [
    {title: "Worker", cell: (row) => h("strong", {}, row.worker)},
    {title: "State", cell: (row) => badge(stateOf(row))},
    {title: "Namespace", className: "wide", cell: (row) => row.namespace},
    {title: "Lanes", cell: (row) => chips(row.lanes)},
    {
      title: "Capabilities",
      cell: (row) => (row.capabilities.length ? chips(row.capabilities) : h("span", {class: "quiet"}, "none")),
    },
    {title: "Heartbeat", cell: (row) => time(row.last_seen_at_ms)},
    {title: "Expires", className: "wide", cell: (row) => countdown(row.expires_at_ms, "expired")},
    {title: "Up for", className: "num wide", cell: (row) => duration(now() - row.registered_at_ms)},
    {title: "Leases", cell: (row) => leaseList(row, held.get(row.worker) || [])},
    may("admin")
      ? {
          title: "Drain",
          cell: (row) =>
            button(row.draining ? "Take work" : "Drain", () => drain(row, !row.draining, changed), {
              kind: "small",
              "data-key": `drain-${row.worker}`,
              "aria-label": `${row.draining ? "Let take work again" : "Drain"}: ${row.worker}`,
            }),
        }
      : null,
  ].filter(Boolean);

function leaseList(worker, held) {
  if (worker.running.length === 0) return h("span", {class: "quiet"}, "none");
  const more = worker.running.length - held.length;
  return h(
    "ul",
    {class: "leases"},
    held.map(({id, info}) =>
      h(
        "li",
        {},
        executionLink(id, info ? info.kind : undefined),
        " ",
        info && info.lease_expires_at_ms ? countdown(info.lease_expires_at_ms, "expired") : null,
      ),
    ),
    more > 0 ? h("li", {class: "quiet"}, `and ${count(more)} more`) : null,
  );
}

export function workers(view) {
  view.setTitle("Workers");
  const box = h("div", {});
  const total = h("span", {class: "quiet"});
  const load = async () => {
    try {
      const {workers: all} = await get("v1/workers", {namespace: view.namespace}, view.signal);
      const lane = view.query.get("lane");
      const name = view.query.get("worker") || "";
      const rows = all.filter((row) => (!lane || row.lanes.includes(lane)) && row.worker.includes(name));
      const held = new Map(await Promise.all(rows.map(async (row) => [row.worker, await leases(row, view.signal)])));
      replace(total, `${count(rows.length)} of ${count(all.length)}`);
      refresh(
        box,
        rows.length
          ? h(
              "div",
              {class: "card"},
              plainTable(
                "Workers",
                columnsFor(held, () => ask()),
                rows,
              ),
            )
          : all.length
            ? emptyBox("No worker matches the filters.")
            : emptyBox("No worker is registered.", "Start one: ", h("code", {}, "ff work COMMAND --lanes LANE")),
      );
    } catch (problem) {
      if (problem.name !== "AbortError")
        replace(
          box,
          problemBox(problem, () => ask()),
        );
    }
  };
  replace(
    view.element,
    pageHead("Workers", {sub: total}),
    filterBar(view, filters, () => ask()),
    box,
  );
  const ask = view.refreshEvery(2000, load);
}
