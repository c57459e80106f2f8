// The frame around every page: navigation, the state of the connection, preferences.
import {h, replace} from "./base/dom.js";
import {allKeys} from "./base/keys.js";
import {prefs, setPrefs, onPrefs} from "./base/prefs.js";
import {zoneName} from "./base/time.js";
import {currentNamespace, href} from "./base/urls.js";
import {isFrozen, onLiveState, setFrozen} from "./api/live.js";
import {field, openDialog, openForm} from "./parts/dialog.js";
import {icon} from "./parts/icons.js";
import {toastArea} from "./parts/messages.js";

export const sections = [
  ["overview", "Overview", "o"],
  ["executions", "Executions", "e"],
  ["flows", "Flows", "f"],
  ["approvals", "Approvals", "a"],
  ["lanes", "Lanes", "l"],
  ["workers", "Workers", "w"],
  ["budgets", "Budgets", "b"],
  ["quotas", "Quotas", "q"],
  ["events", "Events", "v"],
  ["system", "System", "s"],
];

const main = h("main", {id: "main", tabindex: "-1"});
const nav = h("nav", {"aria-label": "Pages", id: "pages"});
const who = h("section", {class: "who", "aria-label": "Signed in"});
const live = h("button", {type: "button", class: "live", onclick: () => setFrozen(!isFrozen())});

function showLive({frozen, connection}) {
  const text = frozen ? "Frozen" : {idle: "Refreshing", live: "Live", lost: "Reconnecting…"}[connection];
  live.className = `live ${frozen ? "is-frozen" : `is-${connection}`}`;
  live.setAttribute("aria-pressed", String(frozen));
  live.title = frozen ? "Show what happens (.)" : "Freeze what is shown (.)";
  replace(live, icon(frozen ? "pause" : connection === "lost" ? "warning" : "dot"), text);
}

function applyTheme({theme}) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

const zones = () => {
  const known = Intl.supportedValuesOf ? Intl.supportedValuesOf("timeZone") : [];
  return [["local", "This device's zone"], ["UTC", "UTC"], ...known.map((name) => [name, name])];
};

export function openPreferences() {
  const now = prefs();
  const fields = [
    field("Colours", "theme", {
      options: [
        ["system", "As the system"],
        ["light", "Light"],
        ["dark", "Dark"],
      ],
      value: now.theme,
    }),
    field("Time zone", "zone", {
      options: zones(),
      value: now.zone,
      hint: `Exact times are shown on hover; now: ${zoneName()}.`,
    }),
    field("Keyboard shortcuts", "keys", {
      options: [
        ["on", "On"],
        ["off", "Off"],
      ],
      value: now.keys ? "on" : "off",
    }),
  ];
  openForm({title: "Preferences", action: "Save"}, fields, async ({theme, zone, keys}) =>
    setPrefs({theme, zone, keys: keys === "on"}),
  );
}

export function openHelp() {
  openDialog(
    {title: "Keyboard shortcuts"},
    h(
      "table",
      {class: "keys"},
      h(
        "tbody",
        {},
        allKeys().map(([keys, text]) =>
          h(
            "tr",
            {},
            h(
              "th",
              {scope: "row"},
              keys.split(" ").map((key) => [h("kbd", {}, key), " "]),
            ),
            h("td", {}, text),
          ),
        ),
      ),
    ),
    h("p", {class: "quiet"}, "Shortcuts can be switched off in the preferences."),
  );
}

function openNamespace() {
  const input = field("Namespace", "ns", {
    value: currentNamespace(),
    maxlength: "64",
    hint: "Every page shows only this namespace; empty: all of them.",
  });
  openForm({title: "Choose a namespace", action: "Show"}, [input], async ({ns}) => {
    const url = new URL(location.href);
    if (ns.trim()) url.searchParams.set("ns", ns.trim());
    else url.searchParams.delete("ns");
    history.pushState(null, "", url);
    window.dispatchEvent(new PopStateEvent("popstate"));
  });
}

export function drawNav(page) {
  replace(
    nav,
    sections.map(([name, text]) =>
      h("a", {href: href(name), "aria-current": name === page ? "page" : null}, icon(name), h("span", {}, text)),
    ),
  );
  const name = currentNamespace();
  replace(namespaceButton, icon("sliders"), h("span", {}, name ? `Namespace ${name}` : "All namespaces"));
}

const namespaceButton = h("button", {type: "button", class: "plain", onclick: openNamespace});

export function showIdentity(identity, logout) {
  replace(
    who,
    identity ? h("span", {class: "quiet", title: `Roles: ${identity.roles.join(", ")}`}, identity.name) : null,
    identity && logout ? h("button", {type: "button", class: "plain small", onclick: logout}, "Log out") : null,
  );
}

// The frame; returns the place for pages.
export function buildShell() {
  const toggle = h(
    "button",
    {
      type: "button",
      class: "plain menu",
      "aria-label": "Menu",
      "aria-expanded": "false",
      "aria-controls": "side",
      onclick: () => openMenu(!document.body.classList.contains("menu-open")),
    },
    icon("menu"),
  );
  const openMenu = (open) => {
    document.body.classList.toggle("menu-open", open);
    toggle.setAttribute("aria-expanded", String(open));
  };
  const skip = h(
    "a",
    {class: "skip", href: "#main", onclick: (event) => (event.preventDefault(), main.focus())},
    "Skip to the page",
  );
  nav.addEventListener("click", () => openMenu(false));
  document.body.replaceChildren(
    skip,
    h(
      "header",
      {class: "top"},
      toggle,
      h(
        "a",
        {class: "brand", href: href("overview")},
        h("span", {class: "logo", "aria-hidden": "true"}),
        "FlowFabric",
      ),
      live,
    ),
    h(
      "div",
      {class: "side", id: "side"},
      nav,
      h(
        "div",
        {class: "side-foot"},
        namespaceButton,
        h(
          "button",
          {type: "button", class: "plain", onclick: openPreferences},
          icon("system"),
          h("span", {}, "Preferences"),
        ),
        h("button", {type: "button", class: "plain", onclick: openHelp}, icon("help"), h("span", {}, "Keyboard")),
        who,
      ),
    ),
    main,
    toastArea(),
  );
  onLiveState(showLive);
  showLive({frozen: false, connection: "idle"});
  onPrefs(applyTheme);
  applyTheme(prefs());
  return main;
}
