// Start, and the way from an address to its page.
import {h, replace} from "./base/dom.js";
import {listenForKeys, setKey} from "./base/keys.js";
import {onPrefs} from "./base/prefs.js";
import {href, readAddress} from "./base/urls.js";
import {isFrozen, setFrozen} from "./api/live.js";
import {onUnauthenticated} from "./api/http.js";
import {emptyBox, fail, problemBox} from "./parts/messages.js";
import {buildShell, drawNav, openHelp, sections, showIdentity} from "./shell.js";
import {learnIdentity, loginPage, logOut} from "./session.js";
import {View} from "./view.js";
import {approvals} from "./pages/approvals.js";
import {budgets} from "./pages/budgets.js";
import {events} from "./pages/events.js";
import {execution} from "./pages/execution.js";
import {executions} from "./pages/executions.js";
import {flow} from "./pages/flow.js";
import {flows} from "./pages/flows.js";
import {lanes} from "./pages/lanes.js";
import {overview} from "./pages/overview.js";
import {quotas} from "./pages/quotas.js";
import {system} from "./pages/system.js";
import {workers} from "./pages/workers.js";

// page: what shows it; `one` shows a single thing of a list, by its id.
const pages = {
  overview: {all: overview},
  executions: {all: executions, one: execution},
  flows: {all: flows, one: flow},
  approvals: {all: approvals},
  lanes: {all: lanes},
  workers: {all: workers},
  budgets: {all: budgets},
  quotas: {all: quotas},
  events: {all: events},
  system: {all: system},
};

const main = buildShell();
let view = null;
let asksToLogIn = false;

function open({focus = true} = {}) {
  if (asksToLogIn) return; // the address is opened after the login
  const address = readAddress(new URL(location.href));
  if (view) view.close();
  const {page, id} = address || {page: "?"};
  const entry = pages[page];
  const show = entry && (id ? entry.one : entry.all);
  drawNav(page);
  view = new View({id, element: main, navigate});
  main.className = `page page-${entry ? page : "none"}`;
  replace(main);
  main.scrollTop = 0;
  if (focus) main.focus({preventScroll: true});
  if (!show) {
    view.setTitle("Not found");
    return void replace(main, h("h1", {}, "Not found"), emptyBox("There is no such page."));
  }
  try {
    show(view);
  } catch (problem) {
    replace(
      main,
      problemBox(problem, () => open()),
    );
  }
}

function navigate(to) {
  if (to === location.href) return;
  history.pushState(null, "", to);
  open();
}

function onClick(event) {
  const anchor = event.target.closest && event.target.closest("a[href]");
  if (!anchor || event.defaultPrevented || event.button !== 0) return;
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.shiftKey ||
    event.altKey ||
    anchor.target ||
    anchor.hasAttribute("download")
  )
    return;
  const url = new URL(anchor.href);
  if (!readAddress(url) || url.hash) return;
  event.preventDefault();
  navigate(url.href);
}

async function begin() {
  asksToLogIn = false;
  try {
    const identity = await learnIdentity();
    showIdentity(identity, identity && identity.needs_token ? leave : null);
  } catch (problem) {
    if (asksToLogIn) return;
  }
  open({focus: false});
}

async function leave() {
  try {
    await logOut();
    askToLogIn();
  } catch (problem) {
    fail(problem);
  }
}

function askToLogIn() {
  if (asksToLogIn) return;
  asksToLogIn = true;
  if (view) view.close();
  showIdentity(null);
  document.title = "Log in · FlowFabric";
  main.className = "page page-login";
  replace(main, loginPage(begin));
  main.querySelector("input").focus();
}

function setKeys() {
  for (const [name, text, letter] of sections) setKey(`g ${letter}`, `Go to ${text}`, () => navigate(href(name)));
  setKey(".", "Freeze or go on", () => setFrozen(!isFrozen()));
  setKey("?", "Show these shortcuts", openHelp);
  listenForKeys();
}

// Where files are is relative to the address that the document was loaded from, which changes without loading.
for (const link of document.querySelectorAll("link[href]")) link.setAttribute("href", link.href);
document.addEventListener("click", onClick);
window.addEventListener("popstate", () => open());
onPrefs(() => view && open());
onUnauthenticated(askToLogIn);
setKeys();
begin();
