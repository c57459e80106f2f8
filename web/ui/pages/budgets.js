// Budgets: what may be spent, what was, and who is held back.
import {h, replace} from "../base/dom.js";
import {count, duration, plural, words} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {time} from "../base/time.js";
import {path} from "../base/urls.js";
import {del, get, post} from "../api/http.js";
import {button, copyButton, facts, meter} from "../parts/bits.js";
import {field, openForm} from "../parts/dialog.js";
import {emptyBox, problemBox, toast} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {badge} from "../parts/state.js";
import {may} from "../session.js";

const shown_max = 200;
const actions = ["fail", "suspend", "reject", "warn", "deny_child", "close_scope"];

function usageRows(budget) {
  const names = [
    ...new Set([
      ...Object.keys(budget.hard_limits || {}),
      ...Object.keys(budget.soft_limits || {}),
      ...Object.keys(budget.usage || {}),
    ]),
  ].sort();
  return names.map((name) => {
    const used = (budget.usage || {})[name] ?? 0;
    const hard = (budget.hard_limits || {})[name];
    const soft = (budget.soft_limits || {})[name];
    const limit = hard ?? soft;
    return h(
      "div",
      {class: "usage"},
      h("span", {class: "usage-name"}, name),
      limit === undefined ? h("span") : meter(name, used, limit),
      h(
        "span",
        {class: "num"},
        count(used),
        limit === undefined ? "" : ` / ${count(limit)}`,
        soft !== undefined && hard !== undefined ? h("span", {class: "quiet"}, ` soft ${count(soft)}`) : null,
      ),
    );
  });
}

function resetDialog(budget, changed) {
  openForm(
    {title: "Reset the budget", action: "Reset"},
    [h("p", {}, "Its usage becomes zero, and work that it holds back starts. The schedule of resets stays.")],
    async () => {
      await post(path`v1/budgets/${budget.id}/reset`);
      toast("Budget reset");
      changed();
    },
  );
}

function deleteDialog(budget, changed) {
  openForm(
    {title: "Delete the budget", action: "Delete", danger: true},
    [
      h(
        "p",
        {},
        "Its usage is deleted, too. Executions that spend from it and have not started wait until one with the same id is created.",
      ),
    ],
    async () => {
      await del(path`v1/budgets/${budget.id}`);
      toast("Budget deleted");
      changed();
    },
  );
}

// "tokens=1000 cents=5" as an object of numbers.
function readLimits(text) {
  const limits = {};
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const [name, value] = part.split("=");
    if (!name || !/^\d+$/.test(value || "")) throw new Error(`'${part}' is not dimension=number`);
    if (!Number.isSafeInteger(Number(value)))
      throw new Error(`${value} is too large for this form; use ff budgets create`);
    limits[name] = Number(value);
  }
  return limits;
}

function createDialog(ns, changed) {
  openForm(
    {title: "Create a budget", action: "Create", wide: true},
    [
      field("Hard limits", "hard", {
        required: true,
        placeholder: "tokens=1000 cents=500",
        hint: "Nothing that spends from it starts once usage is at a hard limit.",
      }),
      field("Soft limits", "soft", {placeholder: "tokens=800"}),
      h(
        "div",
        {class: "field-row"},
        field("On a hard limit", "on_hard_limit", {options: actions.map((name) => [name, words(name)])}),
        field("Enforcement", "enforcement_mode", {
          options: [
            ["strict", "strict"],
            ["advisory", "advisory"],
          ],
        }),
        field("Reset every", "reset_h", {type: "number", min: "0", step: "any", placeholder: "hours"}),
      ),
      h(
        "div",
        {class: "field-row"},
        field("Namespace", "namespace", {value: ns, placeholder: "default"}),
        field("Scope type", "scope_type", {placeholder: "tenant"}),
        field("Scope", "scope_id", {placeholder: "acme"}),
      ),
    ],
    async (values) => {
      const body = {
        hard_limits: readLimits(values.hard),
        on_hard_limit: values.on_hard_limit,
        enforcement_mode: values.enforcement_mode,
      };
      if (values.soft.trim()) body.soft_limits = readLimits(values.soft);
      if (values.reset_h) body.reset_interval_ms = Math.round(Number(values.reset_h) * 3_600_000);
      for (const name of ["namespace", "scope_type", "scope_id"])
        if (values[name].trim()) body[name] = values[name].trim();
      await post("v1/budgets", body);
      toast("Budget created");
      changed();
    },
  );
}

const budgetCard = (budget, changed) =>
  h(
    "article",
    {class: `card budget${budget.exhausted ? " tone-bad" : ""}`},
    h(
      "header",
      {},
      h("h2", {}, budget.scope_id ? `${budget.scope_type}: ${budget.scope_id}` : "Budget"),
      badge(budget.exhausted ? "exhausted" : "open"),
      h(
        "div",
        {class: "actions"},
        may("admin")
          ? [
              button("Reset…", () => resetDialog(budget, changed), {kind: "small", "data-key": `reset-${budget.id}`}),
              button("Delete…", () => deleteDialog(budget, changed), {
                kind: "small",
                "data-key": `delete-${budget.id}`,
              }),
            ]
          : null,
      ),
    ),
    h("div", {class: "usages"}, usageRows(budget)),
    facts([
      ["Id", h("code", {}, budget.id), copyButton(budget.id, "the id")],
      ["Namespace", budget.namespace],
      ["On a hard limit", `${words(budget.on_hard_limit)} (${budget.enforcement_mode})`],
      ["Breaches", `${count(budget.breach_count)} hard, ${count(budget.soft_breach_count)} soft`],
      [
        "Last breach",
        budget.last_breach_at_ms && [time(budget.last_breach_at_ms), ` ${budget.last_breach_dimension || ""}`],
      ],
      [
        "Resets",
        budget.reset_interval_ms
          ? [`every ${duration(budget.reset_interval_ms)}, next `, time(budget.next_reset_at_ms)]
          : "by hand",
      ],
      ["Created", time(budget.created_at_ms)],
    ]),
  );

export function budgets(view) {
  view.setTitle("Budgets");
  const box = h("div", {});
  const total = h("span", {class: "quiet"});
  const load = async () => {
    try {
      const {budgets: rows, next} = await get(
        "v1/budgets",
        {namespace: view.namespace, limit: shown_max},
        view.signal,
      );
      replace(total, next ? `the first ${count(rows.length)}` : plural(rows.length, "budget"));
      refresh(
        box,
        rows.length
          ? h(
              "div",
              {class: "cards"},
              rows.map((row) => budgetCard(row, () => ask())),
            )
          : emptyBox("There are no budgets.", "A budget limits what work may spend."),
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
    pageHead("Budgets", {
      sub: total,
      actions: may("admin")
        ? button("Create…", () => createDialog(view.namespace, () => ask()), {kind: "primary", symbol: "plus"})
        : null,
    }),
    box,
  );
  const ask = view.refreshEvery(3000, load);
}
