// Questions that wait for an answer. A question is shown with its execution, and answered by the signal of a choice.
import {h, replace} from "../base/dom.js";
import {count, plural, shortId, words} from "../base/format.js";
import {refresh} from "../base/refresh.js";
import {countdown, time} from "../base/time.js";
import {path} from "../base/urls.js";
import {get, post} from "../api/http.js";
import {Pager} from "../api/pager.js";
import {button, chips, executionLink, facts} from "../parts/bits.js";
import {field, openForm} from "../parts/dialog.js";
import {emptyBox, problemBox, toast} from "../parts/messages.js";
import {pageHead} from "../parts/page.js";
import {callerName, may} from "../session.js";

const looked_at_max = 500; // suspended executions
const shown_max = 100;
const together_max = 6;

async function suspended(view) {
  const pager = new Pager(async (cursor) => {
    const query = {namespace: view.namespace, state: "suspended", limit: 100, cursor};
    const {executions: rows, next} = await get("v1/executions", query, view.signal);
    return {rows, next};
  });
  while (!pager.atEnd && pager.rows.length < looked_at_max) await pager.more();
  return {rows: pager.rows, cut: !pager.atEnd};
}

// The open waitpoints with a question, the oldest first.
async function questions(view) {
  const {rows, cut} = await suspended(view);
  const found = [];
  const queue = [...rows];
  const work = async () => {
    for (let row = queue.shift(); row; row = queue.shift()) {
      const {suspension, waitpoints} = await get(path`v1/executions/${shortId(row.id)}/suspension`, {}, view.signal);
      const points = waitpoints.length ? waitpoints : (suspension && suspension.waitpoints) || [];
      for (const point of points)
        if (point.question && point.state !== "closed") found.push({row, suspension, point});
    }
  };
  await Promise.all(Array.from({length: together_max}, work));
  return {found: found.sort((a, b) => a.point.created_at_ms - b.point.created_at_ms), cut};
}

function answerDialog({row, point}, choice, changed) {
  openForm(
    {title: point.question.title || "Answer", action: choice.label},
    [
      point.question.text ? h("p", {class: "question-text"}, point.question.text) : null,
      h(
        "p",
        {class: "quiet"},
        `The answer “${choice.label}” goes to ${row.kind} ${shortId(row.id)} and cannot be taken back.`,
      ),
      field("Comment", "comment", {
        rows: 3,
        maxlength: "1000",
        hint: "Optional; the worker gets it with the answer.",
      }),
    ],
    async ({comment}) => {
      const body = {
        waitpoint: point.id,
        category: "approval",
        source: {type: "operator", identity: callerName() || "dashboard"},
      };
      if (comment.trim()) body.payload = {comment};
      const {effect} = await post(path`v1/executions/${shortId(row.id)}/signals/${choice.signal}`, body);
      toast(`Answered “${choice.label}”: ${words(effect)}`);
      changed();
    },
  );
}

const questionCard = (entry, changed) => {
  const {row, suspension, point} = entry;
  const {title, text, choices = [], approvers = []} = point.question;
  return h(
    "article",
    {class: "card question"},
    h(
      "header",
      {},
      h("h2", {}, title || point.key),
      h("span", {class: "quiet"}, "asked ", time(point.created_at_ms)),
    ),
    text ? h("p", {class: "question-text"}, text) : null,
    facts([
      ["Execution", row.kind, " ", executionLink(row.id)],
      ["Lane", row.lane],
      ["Progress", suspension && suspension.progress],
      ["Answers", count(point.signals)],
      ["Asked", approvers.length > 0 && chips(approvers)],
      ["Expires", point.expires_at_ms && countdown(point.expires_at_ms)],
      [
        "Suspension ends",
        suspension &&
          suspension.timeout_at_ms && [
            countdown(suspension.timeout_at_ms),
            ` then ${words(suspension.on_timeout || "")}`,
          ],
      ],
    ]),
    may("submit")
      ? h(
          "div",
          {class: "row"},
          choices.map((choice, at) =>
            button(`${choice.label}…`, () => answerDialog(entry, choice, changed), {
              kind: at === 0 ? "primary" : "",
              "data-key": `answer-${point.id}-${choice.signal}`,
            }),
          ),
          choices.length === 0 ? h("span", {class: "quiet"}, "It has no choices for a person.") : null,
        )
      : null,
  );
};

export function approvals(view) {
  view.setTitle("Approvals");
  const box = h("div", {});
  const total = h("span", {class: "quiet"});
  const load = async () => {
    try {
      const {found, cut} = await questions(view);
      replace(
        total,
        `${plural(found.length, "open question")}${cut ? ` among the newest ${count(looked_at_max)} suspended executions` : ""}`,
      );
      refresh(
        box,
        found.length
          ? h(
              "div",
              {class: "cards"},
              found.slice(0, shown_max).map((entry) => questionCard(entry, () => ask())),
            )
          : emptyBox(
              "No question waits for an answer.",
              "Executions ask with ",
              h("code", {}, "task.ask(…)"),
              " or a waitpoint that has a question.",
            ),
      );
    } catch (problem) {
      if (problem.name !== "AbortError")
        replace(
          box,
          problemBox(problem, () => ask()),
        );
    }
  };
  replace(view.element, pageHead("Approvals", {sub: total}), box);
  const ask = view.refreshOn(
    {types: "suspended,signalled,resumed,waitpoint_opened,waitpoint_closed,completed,failed,cancelled,expired"},
    load,
  );
}
