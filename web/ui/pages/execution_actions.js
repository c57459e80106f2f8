// What one can do with executions. Each asks first, and says what became of it.
import {h} from "../base/dom.js";
import {plural, shortId} from "../base/format.js";
import {path} from "../base/urls.js";
import {parseJson, post, put} from "../api/http.js";
import {field, openForm} from "../parts/dialog.js";
import {toast} from "../parts/messages.js";

const together_max = 8; // requests at a time
const tags_example = "app.customer=acme";

const reasonField = () => field("Reason", "reason", {maxlength: "1000", hint: "Optional; kept with the execution."});

// Runs an action on each of some executions and tells how many it worked for.
async function forEach(rows, done, act) {
  const refused = [];
  const queue = [...rows];
  const work = async () => {
    for (let row = queue.shift(); row; row = queue.shift()) {
      try {
        await act(row);
      } catch (problem) {
        refused.push(problem);
      }
    }
  };
  await Promise.all(Array.from({length: together_max}, work));
  if (refused.length === rows.length && rows.length > 0) throw refused[0];
  toast(`${plural(rows.length - refused.length, "execution")} ${done}`);
  if (refused.length > 0) toast(`${plural(refused.length, "was", "were")} refused: ${refused[0].message}`, "bad");
}

const subject = (rows) =>
  rows.length === 1 ? `${rows[0].kind} ${shortId(rows[0].id)}` : plural(rows.length, "execution");

export function cancelDialog(rows, changed) {
  openForm(
    {
      title: `Cancel ${plural(rows.length, "execution")}`,
      action: rows.length > 1 ? "Cancel them" : "Cancel it",
      danger: true,
    },
    [h("p", {}, `${subject(rows)} will end as cancelled. A worker that runs it is told to stop.`), reasonField()],
    async ({reason}) => {
      await forEach(rows, "cancelled", (row) => post(path`v1/executions/${shortId(row.id)}/cancel`, {reason}));
      changed();
    },
  );
}

export function replayDialog(rows, changed) {
  openForm(
    {title: `Replay ${plural(rows.length, "execution")}`, action: "Replay"},
    [h("p", {}, `${subject(rows)} will run once more, from the start, with the same payload.`), reasonField()],
    async ({reason}) => {
      await forEach(rows, "replayed", (row) => post(path`v1/executions/${shortId(row.id)}/replay`, {reason}));
      changed();
    },
  );
}

export function priorityDialog(rows, changed) {
  openForm(
    {title: "Change the priority", action: "Change"},
    [
      field("Priority", "priority", {
        type: "number",
        min: "0",
        max: "9000",
        required: true,
        value: String(rows[0].priority),
        hint: "0 to 9000; higher ones start first in their lane.",
      }),
    ],
    async ({priority}) => {
      await forEach(rows, `set to priority ${priority}`, (row) =>
        put(path`v1/executions/${shortId(row.id)}/priority`, {priority: Number(priority)}),
      );
      changed();
    },
  );
}

// "a.b=1" lines as an object.
export function readTags(text) {
  const tags = {};
  for (const line of text
    .split("\n")
    .map((one) => one.trim())
    .filter(Boolean)) {
    const at = line.indexOf("=");
    if (at < 1) throw new Error(`'${line}' is not key=value`);
    tags[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return tags;
}

export function tagsDialog(rows, changed) {
  const old =
    rows.length === 1
      ? Object.entries(rows[0].tags || {})
          .map(([key, value]) => `${key}=${value}`)
          .join("\n")
      : "";
  openForm(
    {title: `Tags of ${plural(rows.length, "execution")}`, action: "Save"},
    [
      field("Set", "set", {rows: 5, value: old, placeholder: tags_example, hint: "One key=value on each line."}),
      field("Remove", "remove", {hint: "Keys, separated by blanks."}),
    ],
    async ({set, remove}) => {
      const body = {set: readTags(set), remove: remove.split(/\s+/).filter(Boolean)};
      await forEach(rows, "tagged", (row) => post(path`v1/executions/${shortId(row.id)}/tags`, body));
      changed();
    },
  );
}

export function resumeDialog(row, changed) {
  openForm(
    {title: "Resume", action: "Resume"},
    [h("p", {}, "It goes on although what it waits for has not happened."), reasonField()],
    async ({reason}) => {
      await forEach([row], "resumed", () => post(path`v1/executions/${shortId(row.id)}/resume`, {reason}));
      changed();
    },
  );
}

export function revokeDialog(row, changed) {
  openForm(
    {title: "Revoke the lease", action: "Revoke", danger: true},
    [h("p", {}, `${row.worker} loses this execution; it becomes ready for another worker.`), reasonField()],
    async ({reason}) => {
      await forEach([row], "taken back", () => post(path`v1/executions/${shortId(row.id)}/revoke-lease`, {reason}));
      changed();
    },
  );
}

export function signalDialog(row, changed) {
  openForm(
    {title: "Send a signal", action: "Send"},
    [
      field("Name", "name", {required: true, maxlength: "128"}),
      field("Payload", "payload", {rows: 4, hint: "Text; optional."}),
    ],
    async ({name, payload}) => {
      const {effect} = await post(path`v1/executions/${shortId(row.id)}/signals/${name}`, {payload});
      toast(`Signal sent: ${String(effect).replaceAll("_", " ")}`);
      changed();
    },
  );
}

const submitFields = (query) => [
  h(
    "div",
    {class: "field-row"},
    field("Kind", "kind", {required: true, maxlength: "128", value: query.kind || ""}),
    field("Lane", "lane", {maxlength: "64", value: query.lane || "", placeholder: "default"}),
  ),
  field("Payload", "payload", {rows: 6, value: query.payload || ""}),
  h(
    "div",
    {class: "field-row"},
    field("Content type", "content_type", {value: query.content_type || "", placeholder: "none"}),
    field("Priority", "priority", {type: "number", min: "0", max: "9000", placeholder: "0"}),
    field("Delay", "delay_s", {type: "number", min: "0", placeholder: "seconds"}),
  ),
  h(
    "details",
    {},
    h("summary", {}, "More"),
    h(
      "div",
      {class: "field-row"},
      field("Namespace", "namespace", {value: query.namespace || "", placeholder: "default"}),
      field("Idempotency key", "idempotency_key", {maxlength: "256"}),
    ),
    field("Tags", "tags", {rows: 2, placeholder: tags_example}),
    field("Policy", "policy", {
      rows: 3,
      placeholder: '{"retry_policy": {"max_retries": 3}}',
      hint: "JSON; see the documentation of executions.",
    }),
  ),
];

function submitBody(values) {
  const body = {kind: values.kind.trim(), payload: values.payload};
  for (const name of ["lane", "namespace", "content_type", "idempotency_key"])
    if (values[name].trim()) body[name] = values[name].trim();
  if (values.priority) body.priority = Number(values.priority);
  if (values.delay_s) body.delay_ms = Math.round(Number(values.delay_s) * 1000);
  if (values.tags.trim()) body.tags = readTags(values.tags);
  if (values.policy.trim()) body.policy = parseJson(values.policy);
  return body;
}

// `query` fills the form; submitted(reply) is called with the new execution.
export function submitDialog(query, submitted) {
  openForm({title: "Submit an execution", action: "Submit", wide: true}, submitFields(query), async (values) => {
    const reply = await post("v1/executions", submitBody(values));
    toast(reply.duplicate ? "It was submitted before" : "Submitted");
    submitted(reply);
  });
}
