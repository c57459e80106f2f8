// Dialogs: a form, a question before something is done.
import {h, replace} from "../base/dom.js";
import {icon} from "./icons.js";

// Opens a dialog of these children; `close()` ends it. Focus goes back to where it was.
export function openDialog({title, wide = false}, ...children) {
  const before = document.activeElement;
  const id = `dialog-${Math.random().toString(36).slice(2)}`;
  const box = h(
    "dialog",
    {class: wide ? "dialog wide" : "dialog", "aria-labelledby": id},
    h(
      "header",
      {},
      h("h2", {id}, title),
      h("button", {type: "button", class: "plain", "aria-label": "Close", onclick: () => box.close()}, icon("cross")),
    ),
    ...children,
  );
  box.addEventListener("close", () => {
    box.remove();
    if (before && before.isConnected) before.focus();
  });
  box.addEventListener("click", (event) => event.target === box && box.close());
  document.body.append(box);
  box.showModal();
  return {box, close: () => box.close()};
}

// A form with a button that does something. `act(values)` may throw: the dialog stays and says why.
export function openForm({title, action, danger = false, wide = false}, fields, act) {
  const failure = h("div", {class: "form-problem", role: "alert"});
  const button = h("button", {type: "submit", class: danger ? "danger" : "primary"}, action);
  const form = h(
    "form",
    {class: "form"},
    fields,
    failure,
    h("footer", {}, h("button", {type: "button", onclick: () => dialog.close()}, "Back"), button),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    replace(failure);
    try {
      await act(Object.fromEntries(new FormData(form)), form);
      dialog.close();
    } catch (problem) {
      replace(failure, icon("warning"), h("span", {}, problem.message));
    } finally {
      button.disabled = false;
    }
  });
  const dialog = openDialog({title, wide}, form);
  const first = form.querySelector("input, textarea, select");
  (first || button).focus();
  return dialog;
}

let fieldCount = 0;

// A label with its control; `hint` stands below.
export function field(label, name, {type = "text", hint, options, rows, ...attributes} = {}) {
  const id = `field-${++fieldCount}`;
  const common = {id, name, "aria-describedby": hint ? `${id}-hint` : null, ...attributes};
  let control;
  if (options)
    control = h(
      "select",
      common,
      options.map(([value, text]) => h("option", {value}, text)),
    );
  else if (rows) control = h("textarea", {rows, spellcheck: "false", ...common});
  else control = h("input", {type, autocomplete: "off", spellcheck: "false", ...common});
  if (attributes.value !== undefined) control.value = attributes.value;
  return h(
    "div",
    {class: "field"},
    h("label", {for: id}, label),
    control,
    hint ? h("p", {class: "hint", id: `${id}-hint`}, hint) : null,
  );
}
