// What there is at a glance; every number leads to its rows.
import {h, replace, s} from "../base/dom.js";
import {count, plural, words} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {time} from "../base/time.js";
import {get, ifKnown, send} from "../api/http.js";
import {card, executionLink, flowLink, link} from "../parts/bits.js";
import {icon} from "../parts/icons.js";
import {emptyBox, problemBox} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {badge, executionStates, iconOf, isEnded, toneOf} from "../parts/state.js";
import {plainTable} from "../parts/table.js";
import {nodeBar} from "./flow_counts.js";
import {gist} from "./executions.js";

const slow_ms = 5000; // between looks at what has no events
const shown_max = 6; // failures, flows
const seconds_shown = 60; // of the rates
const rates = [
  ["submitted", "Submitted", "wait"],
  ["completed", "Completed", "good"],
  ["failed", "Failed", "bad"],
];

function sumBy(counts, key) {
  const sums = new Map();
  for (const row of counts) sums.set(row[key], (sums.get(row[key]) || 0) + Number(row.count));
  return sums;
}

function stateTiles(counts) {
  const sums = sumBy(counts, "state");
  const tile = (state) => {
    const n = sums.get(state) || 0;
    return h(
      "li",
      {},
      link(
        "executions",
        {query: {state}},
        h(
          "span",
          {class: `tile tone-${toneOf(state)}${n === 0 ? " is-zero" : ""}`},
          h("span", {class: "tile-name"}, icon(iconOf(state)), words(state)),
          h("span", {class: "tile-number"}, count(n)),
        ),
      ),
    );
  };
  const group = (text, ended) =>
    h(
      "ul",
      {class: "tiles", "aria-label": text},
      executionStates.filter((state) => isEnded(state) === ended).map(tile),
    );
  return h(
    "div",
    {class: "tile-groups"},
    group("Executions that have not ended", false),
    group("Executions that have ended", true),
  );
}

// Only states that some lane has.
function lanesCard(counts) {
  const present = executionStates.filter((state) => counts.some((row) => row.state === state && row.count > 0));
  const lanes = [...new Set(counts.map(({lane}) => lane))].sort();
  const of = new Map(counts.map((row) => [`${row.lane} ${row.state}`, row]));
  const columns = [
    {title: "Lane", cell: (lane) => link("executions", {query: {lane}}, lane)},
    ...present.map((state) => ({
      title: words(state),
      className: "num",
      cell: (lane) => {
        const row = of.get(`${lane} ${state}`);
        if (!row || Number(row.count) === 0) return h("span", {class: "quiet"}, "·");
        return link("executions", {query: {lane, state}}, count(row.count));
      },
    })),
  ];
  return card(
    "Lanes",
    {actions: link("lanes", {}, "All lanes")},
    lanes.length ? plainTable("Executions by lane and state", columns, lanes) : emptyBox("No lane has executions."),
  );
}

class Rates {
  constructor() {
    this.buckets = [];
    this.element = h("div", {class: "rates"});
  }

  take(events) {
    const second = Math.floor(Date.now() / 1000);
    for (const {type} of events) {
      let bucket = this.buckets[this.buckets.length - 1];
      if (!bucket || bucket.second !== second) this.buckets.push((bucket = {second}));
      bucket[type] = (bucket[type] || 0) + 1;
    }
    while (this.buckets.length && this.buckets[0].second < second - seconds_shown) this.buckets.shift();
  }

  draw() {
    const end = Math.floor(Date.now() / 1000);
    refresh(
      this.element,
      rates.map(([type, text, tone]) => {
        const of = new Map(this.buckets.map((bucket) => [bucket.second, bucket[type] || 0]));
        const values = Array.from({length: seconds_shown}, (_, at) => of.get(end - seconds_shown + 1 + at) || 0);
        const sum = values.reduce((all, n) => all + n, 0);
        return h(
          "figure",
          {class: `rate tone-${tone}`},
          h("figcaption", {}, h("strong", {}, count(sum)), ` ${text.toLowerCase()} in the last minute`),
          bars(values),
        );
      }),
    );
  }
}

function bars(values) {
  const most = Math.max(1, ...values);
  return s(
    "svg",
    {class: "bars", viewBox: `0 0 ${seconds_shown * 4} 40`, preserveAspectRatio: "none", "aria-hidden": "true"},
    values.map((n, at) =>
      n === 0
        ? null
        : s("rect", {
            x: at * 4,
            y: 40 - Math.max(2, (40 * n) / most),
            width: 3,
            height: Math.max(2, (40 * n) / most),
          }),
    ),
  );
}

// What somebody should look at: [tone, icon, text with links].
function attention({ready, counts, budgets, workers}) {
  const reclaimable = counts.reduce((sum, row) => sum + Number(row.reclaimable || 0), 0);
  const exhausted = budgets.filter((budget) => budget.exhausted);
  const draining = workers.filter((worker) => worker.draining);
  return [
    ready.ok ? null : ["bad", "warning", ["The server is not ready: ", ready.detail]],
    reclaimable > 0
      ? [
          "bad",
          "warning",
          [link("executions", {query: {state: "active"}}, plural(reclaimable, "execution")), " lost their worker"],
        ]
      : null,
    exhausted.length
      ? [
          "hold",
          "gate",
          [
            link("budgets", {}, plural(exhausted.length, "budget")),
            exhausted.length === 1 ? " is exhausted" : " are exhausted",
          ],
        ]
      : null,
    draining.length
      ? [
          "hold",
          "pause",
          [link("workers", {}, plural(draining.length, "worker")), draining.length === 1 ? " drains" : " drain"],
        ]
      : null,
    workers.length === 0 && counts.some((row) => row.state === "waiting" && row.count > 0)
      ? ["hold", "warning", ["Work waits, and ", link("workers", {}, "no worker is registered")]]
      : null,
  ].filter(Boolean);
}

async function readReadiness(signal) {
  try {
    await send("GET", "readyz", {signal});
    return {ok: true};
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    return {ok: false, detail: problem.message};
  }
}

const failuresCard = (failures) =>
  card(
    "Latest failures",
    {actions: link("executions", {query: {state: "failed"}}, "All failures")},
    failures.length
      ? h(
          "ul",
          {class: "lines"},
          failures.map((row) =>
            h(
              "li",
              {},
              badge("failed", row.kind),
              executionLink(row.id),
              h("span", {class: "lines-text", title: gist(row)}, gist(row)),
              time(row.completed_at_ms),
            ),
          ),
        )
      : emptyBox("Nothing has failed."),
  );

const flowsCard = (flows) =>
  card(
    "Running flows",
    {actions: link("flows", {}, "All flows")},
    flows.length
      ? h(
          "ul",
          {class: "lines"},
          flows.map((row) =>
            h(
              "li",
              {},
              badge(row.state, row.kind || "flow"),
              flowLink(row.id),
              nodeBar(row.counts),
              time(row.created_at_ms),
            ),
          ),
        )
      : emptyBox("No flow is running."),
  );

class OverviewPage {
  constructor(view) {
    this.view = view;
    this.rates = new Rates();
    this.alerts = h("ul", {class: "alerts", "aria-label": "What needs a look"});
    this.tiles = h("div", {});
    this.lanes = h("div", {});
    this.lower = h("div", {class: "columns"});
    this.failure = h("div", {});
    this.slow = {budgets: [], workers: [], ready: {ok: true}};
  }

  async load() {
    const {view} = this;
    const ns = {namespace: view.namespace};
    try {
      const [{counts}, {executions}, {flows}] = await Promise.all([
        get("v1/counts", ns, view.signal),
        get("v1/executions", {...ns, state: "failed", limit: shown_max}, view.signal),
        get("v1/flows", {...ns, state: "running", limit: shown_max}, view.signal),
      ]);
      replace(this.failure);
      this.counts = counts;
      refresh(this.tiles, stateTiles(counts));
      refresh(this.lanes, lanesCard(counts));
      refresh(this.lower, failuresCard(executions), flowsCard(flows));
      this.drawAlerts();
    } catch (problem) {
      if (problem.name !== "AbortError")
        replace(
          this.failure,
          problemBox(problem, () => this.ask()),
        );
    }
  }

  async loadSlow() {
    const {view} = this;
    const ns = {namespace: view.namespace};
    try {
      const [ready, budgets, workers] = await Promise.all([
        readReadiness(view.signal),
        ifKnown(get("v1/budgets", {...ns, limit: 1000}, view.signal)),
        ifKnown(get("v1/workers", ns, view.signal)),
      ]);
      this.slow = {ready, budgets: (budgets && budgets.budgets) || [], workers: (workers && workers.workers) || []};
      this.drawAlerts();
    } catch {
      // The other half of the page says so.
    }
  }

  drawAlerts() {
    if (!this.counts) return;
    const found = attention({...this.slow, counts: this.counts});
    refresh(
      this.alerts,
      found.length
        ? found.map(([tone, symbol, text]) =>
            h("li", {class: `alert tone-${tone}`}, icon(symbol), h("span", {}, text)),
          )
        : h(
            "li",
            {class: "alert tone-good"},
            icon("check"),
            h("span", {}, "The server is ready and nothing needs a look."),
          ),
    );
  }

  show() {
    const {view} = this;
    view.setTitle("Overview");
    replace(
      view.element,
      pageHead("Overview"),
      this.failure,
      this.alerts,
      this.tiles,
      this.rates.element,
      this.lanes,
      this.lower,
    );
    this.ask = view.refreshOn(
      {},
      () => this.load(),
      (events) => this.rates.take(events),
    );
    view.refreshEvery(slow_ms, () => this.loadSlow());
    const timer = setInterval(() => document.hidden || this.rates.draw(), 1000);
    this.rates.draw();
    view.signal.addEventListener("abort", () => clearInterval(timer));
  }
}

export const overview = (view) => new OverviewPage(view).show();
