// What people come for, from the first click to the last.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {launch, openPage, shortId} from "./support/browser.mjs";
import {question, release, runUntil} from "./support/seed.mjs";
import {Server} from "./support/server.mjs";

let browser, server, api;

before(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
  ({api} = server);
});

after(async () => {
  await browser.close();
  await server.stop();
});

const stateOf = async (id) => (await api.get(`executions/${shortId(id)}/state`)).state;

test("find a failure, see its cause, replay it", async () => {
  const id = await api.submit("import", {payload: "rows"});
  await api.fail(await api.claim(["import"]), "row 17 has no price");
  const page = await openPage(browser, server);
  await page.ui();
  await page
    .getByRole("link", {name: /failed/})
    .first()
    .click();
  await page
    .getByRole("row", {name: /import/})
    .getByRole("link")
    .click();
  await page.getByText("row 17 has no price").first().waitFor();
  assert.match(page.url(), new RegExp(shortId(id)));
  await page.getByRole("button", {name: "Replay…"}).click();
  await page.getByLabel("Reason").fill("the price is there");
  await page.getByRole("dialog").getByRole("button", {name: "Replay"}).click();
  await page.getByRole("heading", {name: /waiting import/}).waitFor();
  assert.equal(await stateOf(id), "waiting");
  await page.done();
});

test("submit, find by filter, cancel several", async () => {
  const page = await openPage(browser, server);
  await page.ui("executions");
  for (const payload of ["one", "two"]) {
    await page.getByRole("button", {name: "Submit…"}).click();
    await page.getByLabel("Kind").last().fill("batch");
    await page.getByLabel("Payload").fill(payload);
    await page.getByRole("button", {name: "Submit", exact: true}).click();
    await page.getByRole("heading", {name: /waiting batch/}).waitFor();
    await page.goBack();
  }
  await page.getByRole("search").getByLabel("Kind").fill("batch");
  await page.getByText("2 executions").waitFor();
  assert.match(page.url(), /kind=batch/);
  await page.getByLabel("Select all loaded rows").check();
  await page.getByRole("button", {name: "Cancel…"}).click();
  await page.getByRole("button", {name: "Cancel them"}).click();
  await page.getByText("2 executions cancelled").waitFor();
  await page
    .getByRole("row", {name: /cancelled/})
    .nth(1)
    .waitFor();
  await page.done();
});

test("new executions wait for a click, and those in sight change where they are", async () => {
  const id = await api.submit("steady");
  const page = await openPage(browser, server);
  await page.ui("executions?kind=steady");
  await page.getByText("1 execution", {exact: true}).waitFor();
  await page.getByRole("button", {name: "Live", exact: true}).waitFor();
  for (let at = 0; at < 3; ++at) await api.submit("steady");
  await page.getByRole("button", {name: /3.* new/}).waitFor();
  assert.equal(await page.getByRole("row", {name: /steady/}).count(), 1);
  await api.post(`executions/${shortId(id)}/cancel`);
  await page.getByRole("row", {name: /cancelled.*steady/}).waitFor();
  await page.getByRole("button", {name: /3.* new/}).click();
  await page.getByText("4 executions").waitFor();
  await page.done();
});

test("watch a flow run, see it fail, redrive it after a look at what would run", async () => {
  const {id} = await api.post("flows", release);
  const page = await openPage(browser, server);
  await page.ui("flows");
  await page
    .getByRole("row", {name: /release/})
    .first()
    .getByRole("link")
    .click();
  await page.getByRole("link", {name: /^build compile.*waiting/}).waitFor();
  await page.getByRole("button", {name: /^shard ×12/}).waitFor();
  await page.getByRole("button", {name: "Live", exact: true}).waitFor();
  await runUntil(api, "ship", "the registry refused the image");
  await page.getByRole("link", {name: /^deploy ship.*failed/}).waitFor();
  await page.getByRole("heading", {name: /failed release/}).waitFor();
  await page.getByRole("button", {name: "Redrive…"}).click();
  await page.getByText("3 nodes would run again").waitFor();
  await page.getByLabel("From").selectOption("package");
  await page.getByText("4 nodes would run again").waitFor();
  await page.getByRole("button", {name: "Run them again"}).click();
  await page.getByRole("heading", {name: /running release/}).waitFor();
  assert.equal((await api.get(`flows/${shortId(id)}`)).state, "running");
  await page.getByRole("button", {name: "Pause…"}).click();
  await page.getByRole("button", {name: "Pause", exact: true}).click();
  await page.getByRole("heading", {name: /paused release/}).waitFor();
  await page.getByRole("button", {name: "Cancel…"}).click();
  await page.getByRole("button", {name: "Cancel it"}).click();
  await page.getByRole("heading", {name: /cancelled release/}).waitFor();
  await page.done();
});

test("open the group of siblings", async () => {
  await api.post("flows", release);
  const page = await openPage(browser, server);
  await page.ui("flows");
  await page
    .getByRole("row", {name: /release/})
    .first()
    .getByRole("link")
    .click();
  await page.getByRole("button", {name: /^shard ×12/}).click();
  await page.getByRole("link", {name: /^shard-11/}).waitFor();
  await page.done();
});

test("approve with a comment", async () => {
  const id = await api.submit("deploy");
  await api.ask(await api.claim(["deploy"]), question);
  const page = await openPage(browser, server);
  await page.ui("approvals");
  await page.getByRole("button", {name: "Approve…"}).click();
  await page.getByLabel("Comment").fill("go ahead");
  await page.getByRole("dialog").getByRole("button", {name: "Approve"}).click();
  await page.getByText("No question waits for an answer").waitFor();
  const {
    signals: [signal],
  } = await api.get(`executions/${shortId(id)}/signals`);
  assert.equal(signal.name, "approved");
  assert.deepEqual(JSON.parse(signal.payload), {comment: "go ahead"});
  assert.equal(await stateOf(id), "waiting");
  await page.done();
});

test("follow a stream through a restart of the server, to its end", async (context) => {
  const own = await Server.start();
  context.after(() => own.stop());
  const id = await own.api.submit("tell");
  const claimed = await own.api.claim(["tell"]);
  await own.api.write(claimed, ["first\n"], 0);
  const page = await openPage(browser, own, {expectedFailures: ["/v1/", "/readyz"]});
  await page.ui(`executions/${shortId(id)}?tab=output`);
  await page.getByText("first").waitFor();
  await own.end();
  await page.getByText("The connection is lost").waitFor();
  await own.run();
  await own.api.write(claimed, ["second\n"], 1);
  await page.getByText("second").waitFor();
  await own.api.complete(claimed);
  await page.getByText("The end: completed").waitFor();
  const text = await page.getByRole("log").textContent();
  assert.equal(text.match(/first/g).length, 1, text);
  await page.done();
});

test("events arrive as they happen, stand still when frozen, and follow the filters", async () => {
  const page = await openPage(browser, server);
  await page.ui("events?kind=seen");
  await page.getByRole("button", {name: "Live", exact: true}).waitFor();
  await api.submit("unseen");
  await api.submit("seen");
  await page.getByRole("row", {name: /submitted.*seen/}).waitFor();
  assert.equal(await page.getByRole("row", {name: /unseen/}).count(), 0);
  await page.keyboard.press(".");
  await page.getByRole("button", {name: "Frozen"}).waitFor();
  await api.submit("seen");
  await page.waitForResponse(() => true, {timeout: 600}).catch(() => {});
  assert.equal(await page.getByRole("row", {name: /submitted.*seen/}).count(), 1);
  await page.keyboard.press(".");
  await page
    .getByRole("row", {name: /submitted.*seen/})
    .nth(1)
    .waitFor();
  await page.done();
});

test("budgets and quotas are created, reset and deleted; workers drained", async () => {
  await api.post("workers/digger/register", {lanes: ["default"], ttl_ms: 3_600_000});
  const page = await openPage(browser, server);
  await page.ui("budgets");
  await page.getByRole("button", {name: "Create…"}).click();
  await page.getByLabel("Hard limits").fill("tokens=10");
  await page.getByRole("button", {name: "Create", exact: true}).click();
  await page.getByText("0 / 10").waitFor();
  const {
    budgets: [{id}],
  } = await api.get("budgets");
  await api.post(`budgets/${id}/usage`, {dimensions: {tokens: 10}});
  await page.getByText("exhausted").waitFor();
  await page.getByRole("button", {name: "Reset…"}).click();
  await page.getByRole("button", {name: "Reset", exact: true}).click();
  await page.getByText("0 / 10").waitFor();
  await page.getByRole("button", {name: "Delete…"}).click();
  await page.getByRole("button", {name: "Delete", exact: true}).click();
  await page.getByText("There are no budgets").waitFor();
  await page.ui("quotas");
  await page.getByRole("button", {name: "Create…"}).click();
  await page.getByLabel("At once").fill("2");
  await page.getByRole("button", {name: "Create", exact: true}).click();
  await page.getByText("0 / 2").waitFor();
  await page.ui("workers?worker=digger");
  await page.getByRole("button", {name: "Drain: digger"}).click();
  await page.getByText("draining").waitFor();
  await page.done();
});
