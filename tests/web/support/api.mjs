// A small client of the HTTP API, for making what the tests look at.
export class Api {
  constructor(url, headers = {}) {
    this.url = url;
    this.headers = headers;
  }

  async call(method, path, body) {
    const reply = await fetch(`${this.url}/v1/${path}`, {
      method,
      headers: {...this.headers, ...(body === undefined ? {} : {"Content-Type": "application/json"})},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  }

  get(path) {
    return this.call("GET", path);
  }
  post(path, body = {}) {
    return this.call("POST", path, body);
  }

  async submit(kind, more = {}) {
    return (await this.post("executions", {kind, ...more})).id;
  }

  // Claims one execution of these kinds, which must be there; with its fence.
  async claim(kinds, {worker = "test-worker", lanes = ["default"], ...more} = {}) {
    const {executions} = await this.post(`workers/${worker}/claim-with-lease`, {
      kinds,
      lanes,
      lease_ttl_ms: 600_000,
      ...more,
    });
    if (executions.length === 0) throw new Error(`nothing to claim of ${kinds}`);
    const [claimed] = executions;
    const {lease_id, lease_epoch, attempt_id} = claimed;
    return {
      ...claimed,
      fence: {lease_id, lease_epoch, attempt_id},
      path: `executions/${encodeURIComponent(claimed.id)}`,
    };
  }

  complete(claimed, result = "done") {
    return this.post(`${claimed.path}/complete`, {...claimed.fence, result});
  }
  fail(claimed, reason, category) {
    return this.post(`${claimed.path}/fail`, {...claimed.fence, reason, category});
  }
  progress(claimed, percent, message) {
    return this.post(`${claimed.path}/progress`, {...claimed.fence, percent, message});
  }
  write(claimed, texts, written = 0, stream = "output") {
    return this.post(`${claimed.path}/streams/${stream}/frames`, {
      ...claimed.fence,
      written,
      frames: texts.map((bytes) => ({bytes})),
    });
  }

  // Suspends it with a question to people; returns its waitpoint.
  async ask(claimed, question, more = {}) {
    const {waitpoints} = await this.post(`${claimed.path}/suspend`, {
      ...claimed.fence,
      reason: "waiting_for_approval",
      condition: {signal: "*", waitpoint: "question"},
      waitpoints: [{key: "question", question}],
      ...more,
    });
    return waitpoints[0];
  }
}
