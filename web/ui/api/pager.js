// A list of the API, page by page. A page may be empty although more follow: some calls are made in a row then.
const calls_max = 10;

export class Pager {
  // fetchPage(cursor) gives {rows, next}.
  constructor(fetchPage) {
    this.fetchPage = fetchPage;
    this.restart();
  }

  restart() {
    this.rows = [];
    this.next = undefined;
    this.atEnd = false;
    this.busy = null;
    this.run = (this.run || 0) + 1;
  }

  // Adds a page to `rows`. Calls while one is under way share it.
  more() {
    if (this.atEnd) return Promise.resolve();
    if (!this.busy) {
      const run = this.run;
      this.busy = this.fetchMore(run).finally(() => run === this.run && (this.busy = null));
    }
    return this.busy;
  }

  async fetchMore(run) {
    for (let calls = 0; calls < calls_max; ++calls) {
      const {rows, next} = await this.fetchPage(this.next);
      if (run !== this.run) return;
      this.rows = this.rows.concat(rows);
      this.next = next;
      this.atEnd = next === undefined;
      if (rows.length > 0 || this.atEnd) return;
    }
  }
}
