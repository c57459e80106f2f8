// Lanes: how much waits and runs in each, and who serves it.
import {h, replace} from "../base/dom.js";
import {count, words} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {time} from "../base/time.js";
import {path} from "../base/urls.js";
import {get, ifKnown, post} from "../api/http.js";
import {button, link} from "../parts/bits.js";
import {field, openForm} from "../parts/dialog.js";
import {emptyBox, fail, problemBox, toast} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {badge, executionStates} from "../parts/state.js";
import {plainTable} from "../parts/table.js";
import {may} from "../session.js";

// Lanes that have executions or workers; whether they are paused, if the server can tell.
function gather(counts, workers, listed) {
  const lanes = new Map();
  const of = (name) => {
    if (!lanes.has(name)) lanes.set(name, {name, counts: new Map(), workers: []});
    return lanes.get(name);
  };
  for (const {lane, state, count: n} of counts) of(lane).counts.set(state, Number(n));
  for (const worker of workers) for (const lane of worker.lanes) of(lane).workers.push(worker);
  for (const {lane, paused} of listed || []) of(lane).paused = paused;
  return [...lanes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function pauseDialog(lane, ns, changed) {
  openForm(
    {title: `Pause lane ${lane.name}`, action: "Pause"},
    [
      h("p", {}, "Nothing in it starts until it is resumed; running executions continue."),
      field("Reason", "reason", {maxlength: "1000"}),
    ],
    async ({reason}) => {
      await post(path`v1/lanes/${lane.name}/pause`, {reason, ...(ns ? {namespace: ns} : {})});
      toast(`Lane ${lane.name} is paused`);
      changed();
    },
  );
}

async function resume(lane, ns, changed) {
  try {
    await post(path`v1/lanes/${lane.name}/resume`, ns ? {namespace: ns} : {});
    toast(`Lane ${lane.name} goes on`);
    changed();
  } catch (problem) {
    fail(problem);
  }
}

function columnsFor(lanes, {canPause, ns, changed}) {
  const present = executionStates.filter((state) => lanes.some(({counts}) => counts.get(state) > 0));
  return [
    {title: "Lane", cell: (lane) => link("executions", {query: {lane: lane.name}}, lane.name)},
    ...present.map((state) => ({
      title: words(state),
      className: "num",
      cell: (lane) => {
        const n = lane.counts.get(state) || 0;
        return n === 0
          ? h("span", {class: "quiet"}, "·")
          : link("executions", {query: {lane: lane.name, state}}, count(n));
      },
    })),
    {
      title: "Workers",
      cell: (lane) =>
        lane.workers.length
          ? link("workers", {query: {lane: lane.name}}, count(lane.workers.length))
          : (lane.counts.get("waiting") || 0) > 0
            ? badge("lost", "none")
            : h("span", {class: "quiet"}, "none"),
    },
    canPause
      ? {
          title: "Pause",
          cell: (lane) =>
            lane.paused
              ? [
                  badge("paused"),
                  " ",
                  h("span", {class: "quiet"}, `by ${lane.paused.by} ${lane.paused.reason || ""} `),
                  time(lane.paused.since_ms),
                  " ",
                  button("Resume", () => resume(lane, ns, changed), {
                    kind: "small",
                    "data-key": `resume-${lane.name}`,
                  }),
                ]
              : button("Pause…", () => pauseDialog(lane, ns, changed), {
                  kind: "small",
                  "data-key": `pause-${lane.name}`,
                }),
        }
      : null,
  ].filter(Boolean);
}

export function lanes(view) {
  view.setTitle("Lanes");
  const box = h("div", {});
  replace(view.element, pageHead("Lanes"), box);
  const load = async () => {
    const ns = {namespace: view.namespace};
    try {
      const [{counts}, workers, listed] = await Promise.all([
        get("v1/counts", ns, view.signal),
        ifKnown(get("v1/workers", ns, view.signal)),
        ifKnown(get("v1/lanes", ns, view.signal)),
      ]);
      const rows = gather(counts, (workers && workers.workers) || [], listed && listed.lanes);
      const columns = columnsFor(rows, {
        canPause: listed !== undefined && may("admin"),
        ns: view.namespace,
        changed: () => ask(),
      });
      refresh(
        box,
        rows.length
          ? h("div", {class: "card"}, plainTable("Lanes", columns, rows))
          : emptyBox("No lane has executions or workers."),
      );
    } catch (problem) {
      if (problem.name !== "AbortError")
        replace(
          box,
          problemBox(problem, () => ask()),
        );
    }
  };
  const ask = view.refreshOn({}, load);
  view.refreshEvery(10_000, load);
}
