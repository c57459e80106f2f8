// The server itself: version, readiness, keys, audit, backup.
import {h, replace} from "../base/dom.js";
import {count, words} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {time, zoneName} from "../base/time.js";
import {apiUrl} from "../base/urls.js";
import {get, ifKnown, post} from "../api/http.js";
import {button, card, chips, facts} from "../parts/bits.js";
import {field, openForm} from "../parts/dialog.js";
import {problemBox, toast} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {badge} from "../parts/state.js";
import {plainTable} from "../parts/table.js";
import {learnIdentity, may} from "../session.js";

const audit_shown = 50;

async function readiness(signal) {
  try {
    return {ok: true, ...(await get("readyz", {}, signal))};
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    return {ok: false, detail: problem.message};
  }
}

function backupDialog() {
  openForm(
    {title: "Make a backup", action: "Back up"},
    [
      field("Name", "name", {
        required: true,
        value: new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-"),
        hint: "Of the directory; the server keeps it beside its data.",
      }),
    ],
    async ({name}) => {
      const {directory} = await post("v1/backups", {name});
      toast(`Backup made: ${directory}`);
    },
  );
}

const keyColumns = [
  {title: "Key", cell: (row) => h("code", {}, row.kid)},
  {title: "State", cell: (row) => badge(row.current ? "open" : "cancelled", row.current ? "current" : "old")},
  {title: "Expires", cell: (row) => (row.expires_at_ms ? time(row.expires_at_ms) : "")},
];

const auditColumns = [
  {title: "When", cell: (row) => time(row.at_ms)},
  {title: "Who", cell: (row) => row.who},
  {title: "From", className: "wide", cell: (row) => row.from},
  {title: "What", cell: (row) => words(row.what)},
  {title: "Subject", cell: (row) => h("code", {}, row.subject)},
  {title: "Outcome", cell: (row) => badge(row.outcome === "ok" ? "success" : "failed", row.outcome)},
];

const serverCard = (ready, health) =>
  card(
    "Server",
    {tone: ready.ok ? undefined : "bad"},
    h("p", {}, badge(ready.ok ? "ready" : "lost", ready.ok ? "ready" : "not ready"), " ", ready.detail || ""),
    facts([
      ["Version", health.version],
      ["Scanners", ready.scanners && chips(ready.scanners.map(words))],
      ["Times in", zoneName()],
      [
        "API",
        h("a", {href: apiUrl("openapi.json").href, target: "_blank", rel: "noopener"}, "openapi.json"),
        " · ",
        h("a", {href: apiUrl("metrics").href, target: "_blank", rel: "noopener"}, "metrics"),
      ],
    ]),
  );

const rightsCard = (identity) =>
  card(
    "You",
    {},
    facts([
      ["Name", identity.name],
      ["Roles", chips(identity.roles)],
      ["Namespace", identity.namespace || "all"],
      ["Payloads", identity.payloads === false ? "hidden" : "visible"],
      ["Until", identity.expires_at_ms && time(identity.expires_at_ms)],
    ]),
  );

export function system(view) {
  view.setTitle("System");
  const box = h("div", {class: "columns"});
  const load = async () => {
    const {signal} = view;
    try {
      const [ready, health, identity, keys, audit] = await Promise.all([
        readiness(signal),
        get("healthz", {}, signal),
        learnIdentity(),
        ifKnown(get("v1/admin/waitpoint-keys", {}, signal)),
        ifKnown(get("v1/audit", {limit: audit_shown}, signal)),
      ]);
      refresh(
        box,
        serverCard(ready, health),
        identity ? rightsCard(identity) : null,
        keys ? card("Keys of waitpoint tokens", {}, plainTable("Keys", keyColumns, keys.keys)) : null,
        audit
          ? card(
              "Audit",
              {},
              audit.entries.length
                ? plainTable("Audit", auditColumns, audit.entries)
                : h("p", {class: "quiet"}, "Nothing was done yet."),
              audit.next ? h("p", {class: "quiet"}, `The newest ${count(audit.entries.length)}.`) : null,
            )
          : null,
      );
    } catch (problem) {
      if (problem.name !== "AbortError")
        replace(
          box,
          problemBox(problem, () => ask()),
        );
    }
  };
  replace(view.element, pageHead("System", {actions: may("admin") ? button("Back up…", backupDialog) : null}), box);
  const ask = view.refreshEvery(5000, load);
}
