// A page with a list that is loaded while one scrolls: its loading, its messages, its keys.
import {h, replace} from "../base/dom.js";
import {count, plural} from "../base/format.js";
import {Pager} from "../api/pager.js";
import {button} from "./bits.js";
import {emptyBox, problemBox} from "./messages.js";
import {Table} from "./table.js";

const loaded_max = 50_000;

export class ListPage {
  // fetchPage(cursor) gives {rows, next}; noun: what the rows are; empty() explains that there are none.
  constructor(view, {columns, label, noun, fetchPage, open, empty, ...table}) {
    Object.assign(this, {view, noun, fetchPage, loaded: false});
    this.pager = new Pager(fetchPage);
    this.table = new Table({
      columns,
      label,
      open,
      onEnd: () => this.more(),
      empty: () => (this.loaded ? empty() : null),
      ...table,
    });
    this.fresh = h("div", {class: "fresh", role: "status"});
    this.failure = h("div", {});
    this.total = h("span", {class: "quiet"});
    this.list = h("div", {class: "list"}, this.fresh, this.table.element);
    view.key("j", "Next row", () => this.table.move(1));
    view.key("k", "Row before", () => this.table.move(-1));
    view.key("Enter", "Open the row", () => this.table.openActive());
  }

  // From the top, with what the address asks for.
  async reload() {
    this.pager.restart();
    this.loaded = false;
    this.showFresh(0);
    await this.more();
    this.table.element.scrollTop = 0;
  }

  async more() {
    if (this.pager.atEnd || this.pager.rows.length >= loaded_max) return;
    try {
      await this.pager.more();
      replace(this.failure);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.table.setRows([]);
      return void replace(
        this.failure,
        problemBox(problem, () => this.reload()),
      );
    }
    this.loaded = true;
    this.draw();
  }

  draw() {
    this.table.setRows(this.pager.rows);
    const n = this.pager.rows.length;
    replace(this.total, this.pager.atEnd ? plural(n, this.noun) : `${count(n)} loaded, more below`);
  }

  // Rows that are loaded get their present state where they are; what came since waits for a click.
  async update() {
    if (!this.loaded) return;
    let rows;
    try {
      ({rows} = await this.fetchPage());
    } catch {
      return; // what is shown stays; the connection's state is shown at the top
    }
    if (this.pager.rows.length === 0 && rows.length > 0) return void this.reload();
    const known = new Map(this.pager.rows.map((row, at) => [row.id, at]));
    let unseen = 0;
    for (const row of rows) {
      if (known.has(row.id)) this.patch(known.get(row.id), row);
      else ++unseen;
    }
    this.draw();
    this.showFresh(unseen, unseen === rows.length);
  }

  patch(at, row) {
    if (asText(this.pager.rows[at]) !== asText(row)) this.pager.rows[at] = row;
  }

  // Beyond the first page, an event tells at least the state.
  patchFromEvents(events) {
    const last = new Map(events.map((event) => [event.id, event]));
    this.pager.rows.forEach((row, at) => {
      const event = last.get(row.id);
      if (event && event.state && event.state !== row.state) this.pager.rows[at] = {...row, state: event.state};
    });
  }

  showFresh(n, perhapsMore = false) {
    replace(
      this.fresh,
      n > 0 ? button(`${n}${perhapsMore ? "+" : ""} new`, () => this.reload(), {kind: "pill"}) : null,
    );
  }
}

const asText = (row) => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? String(value) : value));

export const noMatch = (view, filters, noun, ...hint) =>
  filters.some(({name}) => view.query.get(name))
    ? emptyBox(`No ${noun} matches the filters.`)
    : emptyBox(`There are no ${noun}s yet.`, ...hint);
