// The same as a command, for a terminal or a script.
import {h} from "../base/dom.js";
import {shortId} from "../base/format.js";
import {path, serverRoot, apiUrl} from "../base/urls.js";
import {copyText} from "../parts/bits.js";

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const server = () => serverRoot.href.replace(/\/$/, "");

export const commandsFor = (info) => {
  const id = shortId(info.id);
  return [
    ["ff get", `ff get ${id} --url ${server()}`],
    ["ff why", `ff why ${id} --url ${server()}`],
    ["ff replay", `ff replay ${id} --url ${server()}`],
    ["curl", `curl -s ${quoted(apiUrl(path`v1/executions/${id}`).href)}`],
    ["curl payload", `curl -s ${quoted(apiUrl(path`v1/executions/${id}/payload`).href)}`],
  ];
};

export function copyMenu(info) {
  const menu = h(
    "details",
    {class: "menu-box"},
    h("summary", {class: "button"}, "Copy as"),
    h(
      "div",
      {class: "menu-items"},
      commandsFor(info).map(([name, text]) =>
        h(
          "button",
          {
            type: "button",
            class: "plain",
            title: text,
            "data-key": text,
            onclick: () => {
              copyText(text, name);
              menu.open = false;
            },
          },
          name,
        ),
      ),
    ),
  );
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  return menu;
}
