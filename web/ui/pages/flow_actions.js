// What one can do with a flow.
import {h, replace} from "../base/dom.js";
import {count, plural, shortId, words} from "../base/format.js";
import {path} from "../base/urls.js";
import {post} from "../api/http.js";
import {chips} from "../parts/bits.js";
import {field, openForm} from "../parts/dialog.js";
import {toast} from "../parts/messages.js";

const preview_max = 60; // names

const reasonField = () => field("Reason", "reason", {maxlength: "1000", hint: "Optional; kept with the flow."});

const act = (flow, verb, body) => post(`v1/flows/${path`${shortId(flow.id)}`}/${verb}`, body);

export function pauseDialog(flow, changed) {
  openForm(
    {title: "Pause the flow", action: "Pause"},
    [h("p", {}, "No further node starts until it is resumed; running ones continue."), reasonField()],
    async ({reason}) => {
      await act(flow, "pause", {reason});
      toast("Flow paused");
      changed();
    },
  );
}

export async function resumeFlow(flow, changed) {
  await act(flow, "resume", {});
  toast("Flow resumed");
  changed();
}

const policies = [
  ["cancel_all", "Cancel all nodes"],
  ["cancel_pending", "Let running nodes end"],
  ["flow_only", "Leave the nodes as they are"],
];

export function cancelDialog(flow, changed) {
  openForm(
    {title: "Cancel the flow", action: "Cancel it", danger: true},
    [field("Nodes", "policy", {options: policies}), reasonField()],
    async ({policy, reason}) => {
      await act(flow, "cancel", {policy, reason});
      toast("Flow cancelled");
      changed();
    },
  );
}

// Asks the server what a redrive would do before it is done.
export function redriveDialog(flow, nodes, changed) {
  const preview = h("div", {class: "preview", "aria-live": "polite"});
  const options = [
    ["", "all that failed, expired or were cancelled"],
    ...nodes.map(({name, state}) => [name, `${name} (${words(state)})`]),
  ];
  const from = field("From", "from", {options, hint: "Every node that comes after it runs again, too."});
  const show = async (name) => {
    replace(preview, h("p", {class: "quiet"}, "Asking what would run…"));
    try {
      const {nodes: names, count: all} = await act(flow, "redrive", {dry_run: true, ...(name ? {from: name} : {})});
      replace(
        preview,
        h("p", {}, h("strong", {}, plural(Number(all), "node")), " would run again:"),
        chips(names.slice(0, preview_max)),
        all > preview_max ? h("p", {class: "quiet"}, `and ${count(all - preview_max)} more`) : null,
      );
    } catch (problem) {
      replace(preview, h("p", {class: "tone-bad-text"}, problem.message));
    }
  };
  openForm(
    {title: "Redrive the flow", action: "Run them again", wide: true},
    [from, reasonField(), preview],
    async (values) => {
      const {count: all} = await act(flow, "redrive", {
        reason: values.reason,
        ...(values.from ? {from: values.from} : {}),
      });
      toast(`${plural(Number(all), "node")} ${all === 1 ? "runs" : "run"} again`);
      changed();
    },
  );
  from.querySelector("select").addEventListener("change", (event) => show(event.target.value));
  show("");
}
