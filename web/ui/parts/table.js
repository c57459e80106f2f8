// A table that shows any number of rows with a bounded number of elements: only those in sight, and some around
// them, exist. Rows have one height, which the style sheet and `row_px` agree on.
import {h, replace} from "../base/dom.js";

const row_px = 34;
const around = 8;
const rows_max = 70;

// columns: [{key, title, cell(row), className, sort(row)}]. rows have a unique `id`.
// open(row) is what Enter does; onEnd() is called when the last rows come into sight.
export class Table {
  constructor({columns, label, open, onEnd, onSelect, sort, onSort, selectable = false, empty}) {
    Object.assign(this, {columns, open, onEnd, onSelect, sort, onSort, selectable, empty});
    this.rows = [];
    this.made = new Map(); // id: {row, tr}
    this.selected = new Set();
    this.activeId = null;
    this.head = h("tr", {});
    this.body = h("tbody");
    this.table = h("table", {"aria-label": label}, h("thead", {}, this.head), this.body);
    this.element = h("div", {class: "table-scroll", tabindex: "0", role: "region", "aria-label": label}, this.table);
    this.above = this.spacer();
    this.below = this.spacer();
    this.element.addEventListener("scroll", () => this.draw(), {passive: true});
    this.sized = new ResizeObserver(() => this.draw());
    this.sized.observe(this.element);
    this.drawHead();
  }

  static get rowHeight() {
    return row_px;
  }

  spacer() {
    return h("tr", {class: "spacer", "aria-hidden": "true"}, h("td"));
  }

  drawHead() {
    replace(
      this.head,
      this.selectable ? h("th", {class: "pick", scope: "col"}, this.pickAll()) : null,
      this.columns.map((column) => this.headCell(column)),
    );
  }

  headCell(column) {
    const sorted = this.sort && this.sort.key === column.key;
    const attributes = {scope: "col", class: column.className};
    if (!column.sort || !this.onSort) return h("th", attributes, column.title);
    if (sorted) attributes["aria-sort"] = this.sort.down ? "descending" : "ascending";
    const turn = () => {
      this.sort = {key: column.key, down: sorted ? !this.sort.down : false};
      this.onSort(this.sort);
      this.drawHead();
      this.setRows(this.rows);
      this.head.querySelector(`[data-key="sort-${column.key}"]`).focus();
    };
    return h(
      "th",
      attributes,
      h(
        "button",
        {type: "button", class: "sort", "data-key": `sort-${column.key}`, onclick: turn},
        column.title,
        h("span", {"aria-hidden": "true"}, sorted ? (this.sort.down ? " ↓" : " ↑") : ""),
      ),
    );
  }

  pickAll() {
    const all = this.rows.length > 0 && this.rows.every((row) => this.selected.has(row.id));
    const box = h("input", {type: "checkbox", "aria-label": "Select all loaded rows"});
    box.checked = all;
    box.indeterminate = !all && this.selected.size > 0;
    box.addEventListener("change", () => {
      this.selected = new Set(box.checked ? this.rows.map((row) => row.id) : []);
      this.selectionChanged();
    });
    return box;
  }

  selectionChanged() {
    this.drawHead();
    this.made.clear();
    this.draw();
    if (this.onSelect) this.onSelect(this.selectedRows());
  }

  selectedRows() {
    return this.rows.filter((row) => this.selected.has(row.id));
  }

  clearSelection() {
    this.selected.clear();
    this.selectionChanged();
  }

  setRows(rows) {
    this.rows = this.sorted(rows);
    const ids = new Set(rows.map((row) => row.id));
    const before = this.selected.size;
    for (const id of this.selected) if (!ids.has(id)) this.selected.delete(id);
    if (before !== this.selected.size && this.onSelect) this.onSelect(this.selectedRows());
    this.draw();
    if (this.selectable) this.drawHead();
  }

  sorted(rows) {
    const column = this.sort && this.columns.find(({key}) => key === this.sort.key);
    if (!column || !column.sort) return rows;
    const direction = this.sort.down ? -1 : 1;
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    return [...rows].sort((a, b) => direction * order(column.sort(a), column.sort(b)));
  }

  // Puts another row in the place of the one with its id.
  patch(row) {
    const at = this.rows.findIndex((old) => old.id === row.id);
    if (at < 0) return false;
    this.rows[at] = row;
    this.draw();
    return true;
  }

  window() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / row_px) - around);
    const seen = Math.ceil(this.element.clientHeight / row_px) + 2 * around;
    return [first, Math.min(this.rows.length, first + Math.min(seen, rows_max))];
  }

  draw() {
    const [first, last] = this.window();
    const shown = this.rows.slice(first, last).map((row) => this.rowElement(row));
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.above.firstChild.style.blockSize = `${first * row_px}px`;
    this.below.firstChild.style.blockSize = `${(this.rows.length - last) * row_px}px`;
    this.place([this.above, ...shown, this.below]);
    shown.forEach((tr, at) => tr.setAttribute("aria-rowindex", String(first + at + 2)));
    if (this.made.size > 4 * rows_max) this.forget(new Set(shown));
    this.showEmpty();
    if (this.onEnd && last >= this.rows.length - around) this.onEnd();
  }

  // Moves as few elements as possible, so that focus stays.
  place(wanted) {
    let at = this.body.firstChild;
    for (const element of wanted) {
      if (at === element) at = at.nextSibling;
      else this.body.insertBefore(element, at);
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  }

  forget(shown) {
    for (const [id, {tr}] of this.made) if (!shown.has(tr)) this.made.delete(id);
  }

  showEmpty() {
    if (this.emptyBox) this.emptyBox.remove();
    this.emptyBox = this.rows.length === 0 && this.empty ? this.empty() : null;
    if (this.emptyBox) this.element.append(this.emptyBox);
  }

  rowElement(row) {
    const old = this.made.get(row.id);
    if (old && old.row === row) return old.tr;
    const tr = old ? old.tr : h("tr", {});
    const hadFocus = old && tr.contains(document.activeElement) ? document.activeElement.dataset.key || "a" : null;
    replace(
      tr,
      this.selectable ? h("td", {class: "pick"}, this.picker(row)) : null,
      this.columns.map((column) => h("td", {class: column.className}, column.cell(row))),
    );
    if (hadFocus) {
      const again =
        hadFocus === "a" ? tr.querySelector("a") : tr.querySelector(`[data-key="${CSS.escape(hadFocus)}"]`);
      if (again) again.focus({preventScroll: true});
    }
    tr.classList.toggle("active", row.id === this.activeId);
    this.made.set(row.id, {row, tr});
    return tr;
  }

  picker(row) {
    const box = h("input", {type: "checkbox", "aria-label": `Select ${row.id}`, "data-key": "pick"});
    box.checked = this.selected.has(row.id);
    box.addEventListener("change", () => this.select(row, box.checked));
    return box;
  }

  select(row, on) {
    if (on) this.selected.add(row.id);
    else this.selected.delete(row.id);
    this.drawHead();
    if (this.onSelect) this.onSelect(this.selectedRows());
  }

  // j, k, x and Enter.
  move(step) {
    if (this.rows.length === 0) return;
    const at = this.rows.findIndex((row) => row.id === this.activeId);
    const next = Math.max(0, Math.min(this.rows.length - 1, at < 0 ? 0 : at + step));
    const old = this.made.get(this.activeId);
    if (old) old.tr.classList.remove("active");
    this.activeId = this.rows[next].id;
    this.scrollTo(next);
    this.draw();
    const {tr} = this.made.get(this.activeId);
    tr.classList.add("active");
    const first = tr.querySelector("a");
    if (first) first.focus({preventScroll: true});
  }

  scrollTo(at) {
    const top = at * row_px;
    const head = this.head.offsetHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    const bottom = top + row_px + head - this.element.clientHeight;
    if (bottom > this.element.scrollTop) this.element.scrollTop = bottom;
  }

  toggleActive() {
    const row = this.rows.find(({id}) => id === this.activeId);
    if (!row || !this.selectable) return;
    this.select(row, !this.selected.has(row.id));
    const box = this.made.get(row.id).tr.querySelector("input");
    if (box) box.checked = this.selected.has(row.id);
  }

  openActive() {
    const row = this.rows.find(({id}) => id === this.activeId);
    if (row && this.open) this.open(row);
  }
}

// For lists that are short by nature: all rows are there, and the page scrolls.
export function plainTable(label, columns, rows) {
  return h(
    "div",
    {class: "table-plain", tabindex: "0", role: "region", "aria-label": `${label}: table`},
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          columns.map((column) => h("th", {scope: "col", class: column.className}, column.title)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            columns.map((column) => h("td", {class: column.className}, column.cell(row))),
          ),
        ),
      ),
    ),
  );
}
