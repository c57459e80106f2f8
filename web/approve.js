// The approval page: shows the question of a waitpoint and sends one answer. The token is the fragment of
// the page's URL, which browsers send to nobody; it goes to the server in a header. Opening the page only
// reads. Text of the question reaches the page as text, never as HTML.
"use strict";

const element = (id) => document.getElementById(id);
const api = "v1/waitpoint";  // relative, so that it works below a path prefix
let retry = null;            // for the button "Try again"

function token() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return location.hash.slice(1);
  }
}

function setText(id, text) {
  element(id).textContent = text;
  element(id).hidden = text === "";
}

function fact(name, text) {
  element(name).textContent = text;
  element(`${name}-row`).hidden = text === "";
}

function say(kind, text) {
  element("status").dataset.kind = kind;
  element("status").textContent = text;
}

// Shows one state of the page and tells it to screen readers; `again` is what "Try again" does.
function show(state, kind, text, again = null) {
  document.body.dataset.state = state;
  element("form").hidden = state !== "open";
  element("again").hidden = again === null;
  retry = again;
  say(kind, text);
}

// The state for a refusal of the server. 404, 409 and 410 are final, everything else may pass.
const refusals = {
  400: ["unknown", "This link is incomplete. Copy it again, or open it from the message that you got."],
  404: ["unknown", "This link is not valid. Copy it again, or ask for another one."],
  409: ["answered", "This link has already been used for another answer."],
  410: ["over", "This question is closed: answers are no longer taken."],
};

const headings = {
  unknown: "Unknown link",
  over: "This question is closed",
  busy: "The server is busy",
  down: "The server does not answer",
};

function showRefusal(status, again) {
  const [state, text] = refusals[status] ||
      ["busy", "The server could not do this right now. Your answer has not been sent."];
  const keepTitle = document.body.dataset.state === "open";
  if (!keepTitle) {
    setText("title", headings[state] || "Your answer is asked for");
    element("title").focus();
  }
  show(state, "bad", text, refusals[status] ? null : again);
}

function request(options) {
  return fetch(api, {
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
    ...options,
    headers: {Authorization: `Waitpoint ${token()}`, ...options.headers},
  });
}

function labelOf(view, signal) {
  const choices = (view.question && view.question.choices) || [];
  const found = choices.find((choice) => choice.signal === signal);
  return found ? found.label : signal;
}

function timeText(milliseconds) {
  return new Date(milliseconds).toLocaleString([], {dateStyle: "medium", timeStyle: "short"});
}

function showFacts(view) {
  fact("progress", view.progress || "");
  fact("answers", String(view.answers));
  fact("expires", view.expires_at_ms ? timeText(view.expires_at_ms) : "");
  element("facts").hidden = false;
}

function showChoices(view) {
  const buttons = view.question.choices.map((choice) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = choice.label;
    button.addEventListener("click", () => answer(view, choice));
    return button;
  });
  element("choices").replaceChildren(...buttons);
}

function showView(view) {
  const question = view.question || {};
  setText("title", question.title || "Your answer is asked for");
  document.title = question.title || "Your answer is asked for";
  setText("text", question.text || "");
  setText("for", view.approver ? `For ${view.approver}` : "");
  showFacts(view);
  if (view.answer) {
    show("answered-by-you", "good", `You have answered: ${labelOf(view, view.answer)}`);
  } else if (view.state === "closed") {
    showRefusal(410, null);
  } else if (!question.choices || question.choices.length === 0) {
    show("no-question", "", "This link is for a program: it has no choices for a person.");
  } else {
    showChoices(view);
    show("open", "", "");
  }
  element("title").focus();
}

async function load() {
  if (token() === "") return showRefusal(400, null);
  let reply, view;
  try {
    reply = await request({});
    if (reply.ok) view = await reply.json();
  } catch {
    setText("title", headings.down);
    element("title").focus();
    return show("down", "bad", "The server cannot be reached. Check your connection.", load);
  }
  if (reply.ok) showView(view);
  else showRefusal(reply.status, load);
}

function setBusy(busy) {
  element("form").setAttribute("aria-busy", String(busy));
  for (const button of element("choices").children) button.disabled = busy;
}

// Only the end of the question ends the page: anything else can be corrected or sent again.
async function showRefusedAnswer(reply) {
  if ([404, 409, 410].includes(reply.status)) return showRefusal(reply.status, null);
  const problem = await reply.json().catch(() => ({}));
  show("open", "bad", `Your answer was not taken: ${problem.detail || "try again in a moment"}`);
}

async function answer(view, choice) {
  setBusy(true);
  say("", `Sending: ${choice.label}…`);
  const body = {signal: choice.signal, comment: element("comment").value};
  let reply, sent;
  try {
    reply = await request({
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify(body),
    });
    if (reply.ok) sent = await reply.json();
  } catch {
    setBusy(false);
    const text = "The server cannot be reached, so it is not certain that your answer arrived. Send it again.";
    return show("open", "bad", text);
  }
  setBusy(false);
  if (!reply.ok) return showRefusedAnswer(reply);
  view.answers += sent.duplicate ? 0 : 1;
  showFacts({...view, progress: sent.progress});
  show("answered-by-you", "good", `Your answer was sent: ${choice.label}. You can close this page.`);
  element("title").focus();
}

element("form").addEventListener("submit", (event) => event.preventDefault());
element("again").addEventListener("click", () => {
  const again = retry;
  show("loading", "", "Trying again…");
  again();
});
window.addEventListener("hashchange", load);
load();
