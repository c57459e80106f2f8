// A server with something of everything. Workers come last: a claim registers its worker, too.

export const question = {
  title: "Deploy version 2.4 to production?",
  text: "The canary has been healthy for 30 minutes.\nError rate 0.02 %, latency p99 84 ms.",
  choices: [
    {signal: "approved", label: "Approve"},
    {signal: "rejected", label: "Reject"},
  ],
};

export const release = {
  kind: "release",
  result: "verify",
  tags: {"app.service": "checkout"},
  nodes: [
    {name: "build", kind: "compile", lane: "ci"},
    {name: "unit", kind: "test", lane: "ci", after: ["build"]},
    {name: "lint", kind: "check", lane: "ci", after: ["build"]},
    ...Array.from({length: 12}, (_, at) => ({name: `shard-${at}`, kind: "shard", lane: "ci", after: ["build"]})),
    {name: "report", kind: "merge", lane: "ci", after: Array.from({length: 12}, (_, at) => `shard-${at}`)},
    {name: "package", kind: "package", lane: "ci", after: ["unit", "lint", "report"]},
    {name: "deploy", kind: "ship", lane: "ci", after: ["package"]},
    {name: "verify", kind: "probe", lane: "ci", after: ["deploy"]},
    {name: "rollback", kind: "undo", lane: "ci", after: [{node: "verify", on: "failed"}]},
  ],
};

async function workers(api) {
  await api.post("workers/render-1/register", {
    lanes: ["images"],
    capabilities: ["gpu", "cuda-12"],
    ttl_ms: 3_600_000,
  });
  await api.post("workers/render-2/register", {lanes: ["images", "default"], ttl_ms: 3_600_000});
  await api.post("workers/ci-runner/register", {lanes: ["ci"], capabilities: ["docker"], ttl_ms: 3_600_000});
  await api.post("workers/render-2/drain", {draining: true});
}

async function executions(api) {
  for (let at = 0; at < 8; ++at)
    await api.submit("resize", {
      lane: "images",
      payload: `{"image": "cat-${at}.png", "width": 640}`,
      content_type: "application/json",
      tags: {"app.customer": at % 2 ? "acme" : "globex"},
    });
  for (let at = 0; at < 4; ++at)
    await api.complete(
      await api.claim(["resize"], {worker: "render-1", lanes: ["images"]}),
      '{"bytes": 9007199254740993}',
    );
  for (const reason of ["the image is truncated", "out of memory at layer 7"])
    await api.fail(await api.claim(["resize"], {worker: "render-1", lanes: ["images"]}), reason, "decoder");
  const running = await api.claim(["resize"], {worker: "render-1", lanes: ["images"]});
  await api.progress(running, 40, "tile 4 of 10");
  await api.submit("nightly", {delay_ms: 3_600_000});
  await api.submit("render", {lane: "images", policy: {routing_requirements: {required_capabilities: ["tpu"]}}});
  const cancelled = await api.submit("import");
  await api.post(`executions/${encodeURIComponent(cancelled)}/cancel`, {reason: "superseded"});
  return {running};
}

async function stream(api) {
  await api.submit("tell");
  const claimed = await api.claim(["tell"], {worker: "teller"});
  await api.write(
    claimed,
    Array.from({length: 12}, (_, at) => `line ${at + 1}: once upon a time\n`),
  );
  return claimed;
}

async function budgets(api) {
  const {id} = await api.post("budgets", {
    hard_limits: {tokens: 1000, cents: 500},
    soft_limits: {tokens: 800},
    reset_interval_ms: 86_400_000,
    scope_type: "tenant",
    scope_id: "acme",
  });
  await api.post(`budgets/${id}/usage`, {dimensions: {tokens: 1000, cents: 120}});
  const {id: roomy} = await api.post("budgets", {
    hard_limits: {tokens: 50_000},
    scope_type: "team",
    scope_id: "search",
  });
  await api.post(`budgets/${roomy}/usage`, {dimensions: {tokens: 21_337}});
  const waiting = await api.submit("summarise", {policy: {budget_ids: [id]}});
  const {id: quota} = await api.post("quotas", {max_per_window: 100, window_ms: 60_000, max_concurrent: 4});
  return {budget: id, quota, waiting};
}

async function approvals(api) {
  await api.submit("deploy");
  const claimed = await api.claim(["deploy"], {worker: "deployer"});
  const waitpoint = await api.ask(claimed, question, {timeout_ms: 3_600_000});
  await api.submit("refund", {payload: "order 1338"});
  const other = await api.claim(["refund"], {worker: "deployer"});
  await api.ask(other, {
    title: "Refund order 1338?",
    text: "84.00 EUR to the card that paid.",
    choices: question.choices,
    approvers: ["ada", "grace"],
  });
  return {approval: claimed, waitpoint};
}

// A flow whose deploy has failed, and one that runs.
export async function flows(api) {
  const {id: failed} = await api.post("flows", release);
  await runUntil(api, "ship", "the registry refused the image");
  const {id: running} = await api.post("flows", release);
  await api.complete(await api.claim(["compile"], {worker: "ci-runner", lanes: ["ci"]}));
  for (let at = 0; at < 5; ++at) await api.complete(await api.claim(["shard"], {worker: "ci-runner", lanes: ["ci"]}));
  await api.claim(["shard"], {worker: "ci-runner", lanes: ["ci"]});
  await api.complete(await api.claim(["check"], {worker: "ci-runner", lanes: ["ci"]}));
  return {failedFlow: failed, runningFlow: running};
}

// Runs what can be run in lane `ci`, until a node of this kind, which fails.
export async function runUntil(api, kind, reason) {
  for (let at = 0; at < 100; ++at) {
    const {
      executions: [one],
    } = await api.post("workers/ci-runner/claim-with-lease", {lanes: ["ci"], lease_ttl_ms: 600_000, wait_ms: 2000});
    if (!one) throw new Error(`no ${kind} came`);
    const {lease_id, lease_epoch, attempt_id} = one;
    const claimed = {path: `executions/${encodeURIComponent(one.id)}`, fence: {lease_id, lease_epoch, attempt_id}};
    if (one.kind === kind) return api.fail(claimed, reason);
    await api.complete(claimed);
  }
  throw new Error(`${kind} is too far away`);
}

export async function seed(api) {
  const made = {};
  for (const part of [executions, stream, budgets, approvals, flows, workers]) {
    const found = await part(api);
    if (part === stream) made.stream = found;
    else Object.assign(made, found);
  }
  return made;
}
