// Who held an execution when.
import {h} from "../base/dom.js";
import {count, words} from "../base/format.js";
import {exact, time} from "../base/time.js";
import {get} from "../api/http.js";
import {card, link} from "../parts/bits.js";
import {fill} from "../parts/messages.js";
import {plainTable} from "../parts/table.js";

const columns = [
  {title: "When", cell: (row) => [time(row.at_ms), h("div", {class: "quiet"}, exact(row.at_ms))]},
  {title: "Lease", cell: (row) => words(row.type)},
  {title: "Worker", cell: (row) => row.worker},
  {title: "Epoch", className: "num", cell: (row) => count(row.lease_epoch)},
  {title: "Attempt", className: "num", cell: (row) => count(row.attempt_index + 1)},
  {title: "Reason", cell: (row) => words(row.reason)},
  {title: "Lease id", cell: (row) => h("code", {}, row.lease_id)},
];

export function historyTab(box, where, signal) {
  fill(
    box,
    async () => {
      const {events} = await get(`${where}/lease-history`, {}, signal);
      return card(
        "Leases",
        {},
        events.length
          ? plainTable("Lease history", columns, [...events].reverse())
          : h("p", {class: "quiet"}, "Nobody has held it yet."),
        h(
          "p",
          {class: "quiet"},
          "Everything that happens to it from here on is under ",
          link("events", {query: {id: decodeURIComponent(where.split("/").pop())}}, "Events"),
          ".",
        ),
      );
    },
    signal,
  );
}
