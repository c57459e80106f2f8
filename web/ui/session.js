// Who uses the dashboard. A server without tokens lets everybody; one with tokens asks for one, once, and
// answers with a cookie that scripts cannot read.
import {h} from "./base/dom.js";
import {get, ifKnown, post, Problem, send, setSession} from "./api/http.js";
import {field} from "./parts/dialog.js";

let identity;

// May the caller do what takes this role? Unknown callers are let try: the server decides anyway.
export function may(role) {
  if (!identity || !identity.roles) return true;
  return identity.roles.includes(role) || identity.roles.includes("admin");
}

export const seesPayloads = () => !identity || identity.payloads !== false;
export const callerName = () => (identity && identity.name) || "";

// A login session demands its token with every change; scripts of other sites cannot know it.
function demand(csrf) {
  if (csrf) setSession({"X-CSRF-Token": csrf});
}

export async function learnIdentity() {
  identity = await ifKnown(get("v1/whoami"));
  demand(identity && identity.csrf_token);
  return identity;
}

export async function logIn(token) {
  const reply = await send("POST", "v1/login", {body: {token}});
  demand((await reply.json()).csrf_token);
}

export const logOut = () => post("v1/logout");

// A form for a token; `entered` is called once the server has taken it.
export function loginPage(entered) {
  const failure = h("p", {class: "form-problem", role: "alert"});
  const input = field("Token", "token", {
    type: "password",
    required: true,
    autocomplete: "current-password",
    hint: "It is sent to this server once and kept nowhere in the browser.",
  });
  const form = h(
    "form",
    {class: "form login"},
    h("h1", {}, "Log in"),
    h("p", {class: "quiet"}, "This server wants to know who you are."),
    input,
    failure,
    h("footer", {}, h("button", {type: "submit", class: "primary"}, "Log in")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    failure.textContent = "";
    try {
      await logIn(new FormData(form).get("token"));
      form.reset();
      entered();
    } catch (problem) {
      failure.textContent = explain(problem);
    }
  });
  return form;
}

function explain(problem) {
  if (problem instanceof Problem && problem.isMissing)
    return "This server takes tokens only in the header of each request, not from a browser.";
  if (problem.status === 401) return "The server does not know this token.";
  return problem.message;
}
