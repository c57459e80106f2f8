// What an execution waits for and what it has been told: suspension, waitpoints, signals, kept steps.
import {h} from "../base/dom.js";
import {bytes, count, words} from "../base/format.js";
import {countdown, time} from "../base/time.js";
import {path} from "../base/urls.js";
import {get} from "../api/http.js";
import {badge} from "../parts/state.js";
import {card, chips, facts} from "../parts/bits.js";
import {bytesView, shownBytes} from "../parts/bytes_view.js";
import {fill} from "../parts/messages.js";
import {plainTable} from "../parts/table.js";

const shown_max = 2000;

const waitpointColumns = [
  {title: "Waitpoint", cell: (row) => row.key},
  {title: "State", cell: (row) => badge(row.state === "closed" ? "cancelled" : "open", row.state)},
  {
    title: "Question",
    cell: (row) =>
      row.question ? [h("strong", {}, row.question.title || ""), " ", chips(row.question.approvers || [])] : "",
  },
  {title: "Signals", className: "num", cell: (row) => `${count(row.counted)} of ${count(row.signals)} counted`},
  {title: "Opened", cell: (row) => time(row.created_at_ms)},
  {title: "Expires", cell: (row) => (row.expires_at_ms ? countdown(row.expires_at_ms) : "never")},
];

const signalColumns = [
  {title: "#", className: "num", cell: (row) => count(row.index)},
  {title: "Signal", cell: (row) => row.name},
  {title: "From", cell: (row) => (row.source ? `${row.source.type} ${row.source.identity}` : "")},
  {title: "Effect", cell: (row) => words(row.effect)},
  {
    title: "Payload",
    cell: (row) =>
      h("code", {class: "cut"}, shownBytes({text: row.payload, base64: row.payload_base64}).slice(0, shown_max)),
  },
  {title: "Arrived", cell: (row) => time(row.accepted_at_ms)},
];

const stepColumns = (where, signal) => [
  {title: "Step", cell: (row) => row.name},
  {title: "Kept", cell: (row) => time(row.at_ms)},
  {
    title: "Result",
    cell: (row) => {
      const box = h("details", {}, h("summary", {}, bytes(row.bytes)));
      box.addEventListener(
        "toggle",
        () =>
          box.open &&
          box.children.length === 1 &&
          box.append(bytesView(row.name, `${where}/${path`steps/${row.name}`}`, signal)),
      );
      return box;
    },
  },
];

const suspensionCard = (suspension) =>
  card(
    "Suspension",
    {},
    facts([
      ["Reason", words(suspension.reason)],
      ["Since", time(suspension.since_ms)],
      ["Progress", suspension.progress],
      ["Times out", suspension.timeout_at_ms && countdown(suspension.timeout_at_ms)],
      ["On timeout", suspension.on_timeout && words(suspension.on_timeout)],
      [
        "Closed",
        suspension.closed_at_ms && [time(suspension.closed_at_ms), ` ${words(suspension.close_reason || "")}`],
      ],
      ["Condition", h("code", {class: "cut"}, JSON.stringify(suspension.condition))],
    ]),
  );

export function waitsTab(box, where, signal) {
  fill(
    box,
    async () => {
      const ask = (part) => get(`${where}/${part}`, {}, signal);
      const [{suspension, waitpoints}, {signals, next}, {steps}] = await Promise.all([
        ask("suspension"),
        ask("signals"),
        ask("steps"),
      ]);
      const points = waitpoints.length > 0 ? waitpoints : (suspension && suspension.waitpoints) || [];
      return [
        suspension
          ? suspensionCard(suspension)
          : card("Suspension", {}, h("p", {class: "quiet"}, "It has never been suspended.")),
        points.length ? card("Waitpoints", {}, plainTable("Waitpoints", waitpointColumns, points)) : null,
        card(
          "Signals",
          {},
          signals.length ? plainTable("Signals", signalColumns, signals) : h("p", {class: "quiet"}, "None."),
          next !== undefined ? h("p", {class: "quiet"}, `The first ${count(signals.length)} are shown.`) : null,
        ),
        card(
          "Kept steps",
          {},
          steps.length
            ? plainTable("Kept steps", stepColumns(where, signal), steps)
            : h("p", {class: "quiet"}, "None."),
        ),
      ];
    },
    signal,
  );
}
