// One execution: first why it is not running, then all that is known about it.
import {h, replace} from "../base/dom.js";
import {count, shortId, words} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {countdown, time} from "../base/time.js";
import {href, path} from "../base/urls.js";
import {get, getBytes} from "../api/http.js";
import {button, card, copyButton, facts, flowLink, link, tabs, tagChips} from "../parts/bits.js";
import {bytesView, textOf} from "../parts/bytes_view.js";
import {emptyBox, problemBox} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {badge, isEnded} from "../parts/state.js";
import {may, seesPayloads} from "../session.js";
import {
  cancelDialog,
  priorityDialog,
  replayDialog,
  resumeDialog,
  revokeDialog,
  signalDialog,
  submitDialog,
  tagsDialog,
} from "./execution_actions.js";
import {copyMenu} from "./execution_copy.js";
import {outputTab} from "./execution_output.js";
import {waitsTab} from "./execution_waits.js";
import {historyTab} from "./execution_history.js";
import {timeline} from "./execution_timeline.js";

const tabList = [
  ["overview", "Overview"],
  ["data", "Payload and result"],
  ["output", "Output"],
  ["waits", "Signals and steps"],
  ["history", "History"],
];

// Where an obstacle can be looked at.
const obstaclePage = {
  waiting_for_budget: "budgets",
  waiting_for_quota: "quotas",
  waiting_for_worker: "workers",
  waiting_for_capable_worker: "workers",
  waiting_for_approval: "approvals",
};

function whyCard(why, info) {
  const items = why.obstacles.map(({reason, detail, remedy}) =>
    h(
      "li",
      {},
      h("strong", {}, words(reason)),
      detail ? h("p", {}, detail) : null,
      remedy ? h("p", {class: "remedy"}, h("span", {class: "remedy-word"}, "Remedy"), remedy) : null,
      obstaclePage[reason] ? h("p", {}, link(obstaclePage[reason], {}, `Show ${obstaclePage[reason]}`)) : null,
    ),
  );
  const tone = info.state === "failed" || info.state === "expired" ? "bad" : items.length > 0 ? "hold" : undefined;
  return card(
    isEnded(info.state) ? "How it ended" : info.state === "active" ? "What it does" : "Why it waits",
    {tone, id: "why"},
    h("p", {class: "why"}, why.summary),
    items.length ? h("ol", {class: "obstacles"}, items) : null,
  );
}

function progressBar({percent, message, at_ms}) {
  const fill = h("span", {class: "meter-fill"});
  fill.style.inlineSize = `${percent}%`;
  return h(
    "div",
    {class: "progress"},
    h(
      "div",
      {
        class: "meter tone-run",
        role: "progressbar",
        "aria-label": "Progress",
        "aria-valuenow": percent,
        "aria-valuemin": "0",
        "aria-valuemax": "100",
      },
      fill,
    ),
    h("span", {}, `${percent}% ${message || ""}`),
    time(at_ms),
  );
}

const overviewFacts = (info) =>
  facts([
    ["Id", h("code", {}, shortId(info.id)), copyButton(shortId(info.id), "the id")],
    ["Namespace", info.namespace],
    ["Lane", link("executions", {query: {lane: info.lane}}, info.lane)],
    ["Kind", link("executions", {query: {kind: info.kind}}, info.kind)],
    ["Priority", count(info.priority)],
    ["Worker", info.worker && link("workers", {}, info.worker)],
    ["Lease", info.lease_expires_at_ms && countdown(info.lease_expires_at_ms, "expired")],
    ["Created", time(info.created_at_ms)],
    ["Not before", info.delay_until_ms && time(info.delay_until_ms)],
    ["Deadline", info.deadline_ms && time(info.deadline_ms)],
    ["Started", info.started_at_ms && time(info.started_at_ms)],
    ["Ended", info.completed_at_ms && time(info.completed_at_ms)],
    ["Suspended", info.suspended_since_ms && time(info.suspended_since_ms)],
    ["Suspension ends", info.suspension_timeout_at_ms && countdown(info.suspension_timeout_at_ms)],
    [
      "Attempts",
      `${count(info.attempts)} (${count(info.retries)} retries, ${count(info.reclaims)} reclaims, ${count(info.replays)} replays)`,
    ],
    ["Flow", info.flow && [flowLink(info.flow), " as ", h("code", {}, info.node || "")]],
    ["Inner flow", info.subflow && flowLink(info.subflow)],
    ["Tags", info.tags && Object.keys(info.tags).length > 0 && tagChips(info.tags)],
    ["Idempotency key", info.idempotency_key],
    ["Trace", info.traceparent && h("code", {}, info.traceparent)],
  ]);

const policyCard = (info) =>
  h(
    "details",
    {class: "card"},
    h("summary", {}, "Policy"),
    h(
      "pre",
      {class: "bytes"},
      JSON.stringify(info.policy, (_, value) => (typeof value === "bigint" ? `${value}` : value), 2),
    ),
  );

class ExecutionPage {
  constructor(view) {
    this.view = view;
    this.where = path`v1/executions/${shortId(view.id)}`;
    this.head = h("div", {});
    this.why = h("div", {});
    this.tabBox = h("div", {});
    this.content = h("div", {class: "tab-content", role: "tabpanel"});
  }

  tab() {
    return this.view.query.get("tab") || "overview";
  }

  actions() {
    const {info} = this;
    if (!may("submit")) return [copyMenu(info)];
    const ended = isEnded(info.state);
    const changed = () => this.ask();
    const action = (text, key, open, kind) =>
      button(`${text}…`, () => open(this.info), {kind, "data-key": `${key}-${info.id}`});
    return [
      ended ? action("Replay", "replay", (one) => replayDialog([one], changed), "primary") : null,
      info.state === "suspended" ? action("Resume", "resume", (one) => resumeDialog(one, changed)) : null,
      info.state === "suspended" ? action("Signal", "signal", (one) => signalDialog(one, changed)) : null,
      !ended ? action("Cancel", "cancel", (one) => cancelDialog([one], changed), "danger") : null,
      info.state === "active" && may("admin")
        ? action("Revoke", "revoke", (one) => revokeDialog(one, changed))
        : null,
      !ended ? action("Priority", "priority", (one) => priorityDialog([one], changed)) : null,
      action("Tags", "tags", (one) => tagsDialog([one], changed)),
      action("Edited copy", "edited", () => this.submitCopy()),
      copyMenu(info),
    ];
  }

  async submitCopy() {
    const {info} = this;
    let payload = "";
    try {
      const got = await getBytes(`${this.where}/payload`, this.view.signal);
      payload = (got && textOf(got.bytes)) || "";
    } catch {
      // The form opens without it: the payload may be hidden from this caller.
    }
    submitDialog(
      {kind: info.kind, lane: info.lane, namespace: info.namespace, content_type: info.content_type, payload},
      ({id}) => this.view.navigate(href("executions", {id: shortId(id)})),
    );
  }

  async load() {
    const {signal} = this.view;
    try {
      const [info, why] = await Promise.all([get(this.where, {}, signal), get(`${this.where}/why`, {}, signal)]);
      Object.assign(this, {info, reasons: why});
    } catch (problem) {
      if (problem.name !== "AbortError") this.showProblem(problem);
      return;
    }
    this.showHead();
    if (this.tab() === "overview") await this.showOverview();
    else if (!this.tabShown) this.openTab();
  }

  showProblem(problem) {
    const gone = problem.status === 404;
    if (this.info && !gone) return; // what is known stays; the connection's state is shown at the top
    replace(
      this.view.element,
      pageHead("Execution"),
      gone
        ? emptyBox(
            "There is no such execution.",
            "It may have been removed after its retention. ",
            link("executions", {}, "All executions"),
          )
        : problemBox(problem, () => this.show()),
    );
  }

  showHead() {
    const {info} = this;
    this.view.setTitle(`${info.kind} ${words(info.state)}`);
    refresh(
      this.head,
      pageHead([badge(info.state), " ", info.kind], {
        sub: [
          h("code", {class: "id"}, shortId(info.id)),
          copyButton(shortId(info.id), "the id"),
          " created ",
          time(info.created_at_ms),
          info.flow ? [" · node ", h("code", {}, info.node || ""), " of flow ", flowLink(info.flow)] : null,
        ],
        actions: this.actions(),
      }),
    );
    refresh(
      this.why,
      whyCard(this.reasons, info),
      info.progress && !isEnded(info.state) ? progressBar(info.progress) : null,
    );
  }

  async showOverview() {
    const {signal} = this.view;
    const ask = (part) => get(`${this.where}/${part}`, {}, signal);
    try {
      const [{attempts}, {events}] = await Promise.all([ask("attempts"), ask("lease-history")]);
      if (this.tab() !== "overview") return;
      refresh(
        this.content,
        timeline(this.info, attempts, events),
        card("Facts", {}, overviewFacts(this.info)),
        policyCard(this.info),
      );
    } catch (problem) {
      if (problem.name !== "AbortError")
        replace(
          this.content,
          problemBox(problem, () => this.ask()),
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
    replace(
      this.tabBox,
      tabs(tabList, tab, (name) => {
        this.view.setQuery({tab: name === "overview" ? "" : name});
        this.openTab();
      }),
    );
    replace(this.content);
    if (!this.info) return;
    if (tab === "overview") return void this.showOverview();
    if (tab === "data") return void replace(this.content, this.dataTab(signal));
    if (tab === "output") return void outputTab(this.content, this.where, signal);
    if (tab === "waits") return void waitsTab(this.content, this.where, signal);
    historyTab(this.content, this.where, signal);
  }

  dataTab(signal) {
    if (!seesPayloads()) return emptyBox("You may not see payloads.");
    const ended = isEnded(this.info.state);
    return [
      bytesView("Payload", `${this.where}/payload`, signal),
      ended && this.info.state === "completed"
        ? bytesView("Result", `${this.where}/result`, signal)
        : card(
            "Result",
            {},
            h(
              "p",
              {class: "quiet"},
              ended ? `It ended as ${this.info.state}, without a result.` : "It has not ended.",
            ),
          ),
    ];
  }

  show() {
    const {view} = this;
    view.setTitle("Execution");
    replace(view.element, this.head, this.why, this.tabBox, this.content);
    this.openTab();
    this.tabShown = null; // shown again once it is known what there is
    if (this.ask) return this.ask();
    this.ask = view.refreshOn({id: shortId(view.id), namespace: ""}, () => this.load());
    view.refreshEvery(5000, () => this.info && !isEnded(this.info.state) && this.load());
  }
}

export const execution = (view) => new ExecutionPage(view).show();
