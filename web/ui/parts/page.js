// The head of a page.
import {h} from "../base/dom.js";

export const pageHead = (title, {sub, actions} = {}) =>
  h(
    "header",
    {class: "page-head"},
    h("div", {class: "titles"}, h("h1", {}, title), sub ? h("div", {class: "sub"}, sub) : null),
    actions ? h("div", {class: "actions"}, actions) : null,
  );
