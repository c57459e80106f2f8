// When an execution waited and ran: attempts and leases on a time axis, and the attempts as a table.
import {h} from "../base/dom.js";
import {count, duration} from "../base/format.js";
import {now, time} from "../base/time.js";
import {card, chips} from "../parts/bits.js";
import {gantt} from "../parts/gantt.js";
import {badge, isEnded} from "../parts/state.js";
import {plainTable} from "../parts/table.js";

// Leases as spans: each begins with `acquired` and ends with whatever follows under its epoch.
function leaseSpans(events) {
  const open = new Map();
  const spans = [];
  for (const event of events) {
    if (event.type === "acquired") {
      const span = {from: event.at_ms, state: "active", text: `${event.worker} (lease ${event.lease_epoch})`};
      open.set(event.lease_epoch, span);
      spans.push(span);
    } else if (open.has(event.lease_epoch)) {
      const span = open.get(event.lease_epoch);
      span.to = event.at_ms;
      span.state = event.type === "released" ? "completed" : "expired";
      open.delete(event.lease_epoch);
    }
  }
  return spans;
}

const attemptSpan = (attempt) => ({
  from: attempt.started_at_ms,
  to: attempt.ended_at_ms,
  state: attempt.outcome === "running" ? "active" : attempt.outcome,
  text: `${attempt.index + 1}: ${attempt.outcome}`,
});

export function timeline(info, attempts, leases) {
  const end = info.completed_at_ms || now();
  const first = attempts[0] ? attempts[0].started_at_ms : undefined;
  const waited = {
    from: info.created_at_ms,
    to: first ?? (isEnded(info.state) ? end : undefined),
    state: "waiting",
    text: "before the first attempt",
  };
  const rows = [
    {label: "Waiting", spans: [waited]},
    {label: "Attempts", spans: attempts.map(attemptSpan)},
    {label: "Leases", spans: leaseSpans(leases)},
  ];
  return card(
    "Timeline",
    {},
    gantt(
      "When it waited and ran; the table of attempts says the same",
      rows.filter(({spans}) => spans.length),
      info.created_at_ms,
      end,
    ),
    attempts.length
      ? plainTable("Attempts", attemptColumns, attempts)
      : h("p", {class: "quiet"}, "It has not been tried yet."),
  );
}

const attemptColumns = [
  {title: "#", className: "num", cell: (row) => count(row.index + 1)},
  {title: "Outcome", cell: (row) => badge(row.outcome === "running" ? "active" : row.outcome, row.outcome)},
  {title: "Type", cell: (row) => row.type},
  {title: "Worker", cell: (row) => row.worker},
  {title: "Began", cell: (row) => time(row.started_at_ms)},
  {title: "Took", className: "num", cell: (row) => duration((row.ended_at_ms || now()) - row.started_at_ms)},
  {
    title: "Reason",
    cell: (row) => [
      row.failure_reason || row.cause || "",
      row.failure_category ? chips([row.failure_category]) : null,
    ],
  },
];
