// A row of filters that live in the address.
import {h} from "../base/dom.js";

const typing_ms = 350;

// filters: [{name, label, options?, list?, placeholder?, width?}]. changed() is called after the address has changed.
export function filterBar(view, filters, changed, ...more) {
  let timer = null;
  const apply = () => {
    clearTimeout(timer);
    const values = {};
    for (const [name, control] of controls) values[name] = control.value.trim();
    view.setQuery(values);
    changed(values);
  };
  const controls = filters.map((filter) => [filter.name, makeControl(filter, view.query.get(filter.name) || "")]);
  const form = h(
    "form",
    {
      class: "filters",
      role: "search",
      "aria-label": "Filters",
      onsubmit: (event) => (event.preventDefault(), apply()),
    },
    filters.map((filter, at) => {
      const control = controls[at][1];
      control.addEventListener(filter.options ? "change" : "input", () => {
        clearTimeout(timer);
        timer = setTimeout(apply, filter.options ? 0 : typing_ms);
      });
      return h("label", {class: "filter"}, h("span", {}, filter.label), control, filter.list ? listOf(filter) : null);
    }),
    ...more,
  );
  view.signal.addEventListener("abort", () => clearTimeout(timer));
  view.key("/", "Go to the filters", () => form.querySelector("input").focus());
  form.addEventListener("keydown", (event) => event.key === "Escape" && event.target.blur());
  return form;
}

export const filterValues = (view, filters) =>
  Object.fromEntries(filters.map(({name}) => [name, view.query.get(name) || undefined]));

function makeControl({name, options, list, placeholder}, value) {
  if (options) {
    const select = h(
      "select",
      {name},
      options.map(([key, text]) => h("option", {value: key}, text)),
    );
    if (value && !options.some(([key]) => key === value)) select.append(h("option", {value}, value));
    select.value = value;
    return select;
  }
  return h("input", {
    name,
    value,
    placeholder,
    list: list ? `list-${name}` : null,
    autocomplete: "off",
    spellcheck: "false",
    type: "text",
  });
}

const listOf = ({name, list}) =>
  h(
    "datalist",
    {id: `list-${name}`},
    list.map((value) => h("option", {value})),
  );
