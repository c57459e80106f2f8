// Quotas: how often and how many at once work may start.
import {h, replace} from "../base/dom.js";
import {count, duration, plural} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {countdown, time} from "../base/time.js";
import {path} from "../base/urls.js";
import {del, get, post} from "../api/http.js";
import {button, copyButton, facts, meter} from "../parts/bits.js";
import {field, openForm} from "../parts/dialog.js";
import {emptyBox, problemBox, toast} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {may} from "../session.js";

const shown_max = 200;

function deleteDialog(quota, changed) {
  openForm(
    {title: "Delete the quota", action: "Delete", danger: true},
    [
      h(
        "p",
        {},
        "Executions that are attached to it and have not started wait until one with the same id is created.",
      ),
    ],
    async () => {
      await del(path`v1/quotas/${quota.id}`);
      toast("Quota deleted");
      changed();
    },
  );
}

function createDialog(ns, changed) {
  openForm(
    {title: "Create a quota", action: "Create"},
    [
      h(
        "div",
        {class: "field-row"},
        field("Starts", "max_per_window", {type: "number", min: "1"}),
        field("in", "window_s", {type: "number", min: "1", placeholder: "60 seconds"}),
      ),
      h(
        "div",
        {class: "field-row"},
        field("At once", "max_concurrent", {type: "number", min: "1"}),
        field("Jitter", "jitter_ms", {type: "number", min: "0", placeholder: "0 ms"}),
      ),
      field("Namespace", "namespace", {value: ns, placeholder: "default"}),
    ],
    async (values) => {
      const body = {};
      for (const name of ["max_per_window", "max_concurrent", "jitter_ms"])
        if (values[name]) body[name] = Number(values[name]);
      if (values.window_s) body.window_ms = Number(values.window_s) * 1000;
      if (values.namespace.trim()) body.namespace = values.namespace.trim();
      await post("v1/quotas", body);
      toast("Quota created");
      changed();
    },
  );
}

const usage = (name, used, limit) =>
  limit
    ? h(
        "div",
        {class: "usage"},
        h("span", {class: "usage-name"}, name),
        meter(name, used, limit),
        h("span", {class: "num"}, `${count(used)} / ${count(limit)}`),
      )
    : null;

const quotaCard = (quota, changed) =>
  h(
    "article",
    {class: "card budget"},
    h(
      "header",
      {},
      h("h2", {}, "Quota"),
      h(
        "div",
        {class: "actions"},
        may("admin")
          ? button("Delete…", () => deleteDialog(quota, changed), {kind: "small", "data-key": `delete-${quota.id}`})
          : null,
      ),
    ),
    h(
      "div",
      {class: "usages"},
      usage(`starts in ${duration(quota.window_ms)}`, quota.in_window, quota.max_per_window),
      usage("at once", quota.running, quota.max_concurrent),
    ),
    facts([
      ["Id", h("code", {}, quota.id), copyButton(quota.id, "the id")],
      ["Namespace", quota.namespace],
      ["Next start", quota.next_start_at_ms ? countdown(quota.next_start_at_ms, "now") : "now"],
      ["Running", count(quota.running)],
      ["Jitter", quota.jitter_ms ? duration(quota.jitter_ms) : "none"],
      ["Created", time(quota.created_at_ms)],
    ]),
  );

export function quotas(view) {
  view.setTitle("Quotas");
  const box = h("div", {});
  const total = h("span", {class: "quiet"});
  const load = async () => {
    try {
      const {quotas: rows, next} = await get("v1/quotas", {namespace: view.namespace, limit: shown_max}, view.signal);
      replace(total, next ? `the first ${count(rows.length)}` : plural(rows.length, "quota"));
      refresh(
        box,
        rows.length
          ? h(
              "div",
              {class: "cards"},
              rows.map((row) => quotaCard(row, () => ask())),
            )
          : emptyBox("There are no quotas.", "A quota limits how often, and how many at once, work may start."),
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
    pageHead("Quotas", {
      sub: total,
      actions: may("admin")
        ? button("Create…", () => createDialog(view.namespace, () => ask()), {kind: "primary", symbol: "plus"})
        : null,
    }),
    box,
  );
  const ask = view.refreshEvery(3000, load);
}
