// Every page: with data, empty, when the server fails; for axe, in both colour schemes and at a phone's width.
import assert from "node:assert/strict";
import {readFile} from "node:fs/promises";
import {createRequire} from "node:module";
import {after, before, test} from "node:test";
import {launch, openPage, shortId} from "./support/browser.mjs";
import {seed} from "./support/seed.mjs";
import {Server} from "./support/server.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser, full, bare, made;

before(async () => {
  [browser, full, bare] = await Promise.all([launch(), Server.start(), Server.start()]);
  made = await seed(full.api);
});

after(async () => {
  await browser.close();
  await Promise.all([full.stop(), bare.stop()]);
});

// where: what must be seen there with data, and without.
const pages = [
  ["", "rate limited", "The server is ready"],
  ["executions?kind=nightly", "nightly", "No execution matches the filters"],
  ["flows", "release", "There are no flows yet"],
  ["approvals", "Deploy version 2.4 to production?", "No question waits for an answer"],
  ["lanes", "images", "No lane has executions"],
  ["workers", "cuda-12", "No worker is registered"],
  ["budgets", "tenant: acme", "There are no budgets"],
  ["quotas", "0 / 100", "There are no quotas"],
  ["events", "Events", "Nothing has happened since"],
  ["system", "lease expiry", "ready"],
];

const single = () => [
  [`executions/${shortId(made.waiting)}`, "waiting for budget"],
  [`executions/${shortId(made.running.id)}`, "tile 4 of 10"],
  [`executions/${shortId(made.running.id)}?tab=data`, '"width": 640'],
  [`executions/${shortId(made.stream.id)}?tab=output`, "line 12: once upon a time"],
  [`executions/${shortId(made.approval.id)}?tab=waits`, "Deploy version 2.4 to production?"],
  [`executions/${shortId(made.running.id)}?tab=history`, "acquired"],
  [`flows/${shortId(made.failedFlow)}`, "deploy"],
  [`flows/${shortId(made.failedFlow)}?tab=nodes`, "the registry refused the image"],
  [`flows/${shortId(made.runningFlow)}?tab=output`, "Following"],
];

const see = (page, text) => page.locator("main").getByText(text).first().waitFor();

const everything = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function violations(page, runOnly = everything) {
  await page.evaluate(axe);
  const {violations: found} = await page.evaluate(
    (rules) => window.axe.run(document, {runOnly: rules, resultTypes: ["violations"]}),
    runOnly,
  );
  return found.map(
    ({id, nodes}) =>
      `${id}: ${nodes
        .map(({html}) => html)
        .slice(0, 3)
        .join(" | ")}`,
  );
}

test("show what there is, without a violation that axe finds", async () => {
  for (const colorScheme of ["light", "dark"]) {
    const page = await openPage(browser, full, {colorScheme});
    for (const [where, text] of [...pages, ...single()]) {
      await page.ui(where);
      await see(page, text);
      // The other scheme differs in its colours alone.
      assert.deepEqual(
        await violations(page, colorScheme === "light" ? everything : ["color-contrast"]),
        [],
        `${colorScheme} ${where}`,
      );
    }
    await page.done();
  }
});

test("say that there is nothing", async () => {
  const page = await openPage(browser, bare);
  for (const [where, , text] of pages) {
    await page.ui(where);
    await see(page, text);
    assert.deepEqual(await violations(page), [], where);
  }
  await page.done();
});

test("say what went wrong, and try again", async () => {
  const page = await openPage(browser, full, {expectedFailures: ["/v1/", "/readyz", "/healthz"]});
  const problem = {
    status: 503,
    contentType: "application/problem+json",
    body: JSON.stringify({code: "store_unavailable", detail: "the disk is full", status: 503}),
  };
  for (const [where, text] of pages) {
    if (where === "events") continue; // has nothing to load
    await page.route(/\/(v1|readyz|healthz)/, (route) => route.fulfill(problem));
    await page.ui(where);
    await see(page, "the disk is full");
    await page.unroute(/\/(v1|readyz|healthz)/);
    // Pages that look again by themselves may be quicker.
    await page
      .getByRole("button", {name: "Try again"})
      .first()
      .click({timeout: 2000})
      .catch(() => {});
    await see(page, text);
  }
  await page.done();
});

test("know what is not there", async () => {
  const page = await openPage(browser, bare, {expectedFailures: ["/v1/executions/", "/v1/flows/", "/v1/events"]});
  for (const [where, text] of [
    ["executions/3-01a1f5de-c94b-72d2-8e93-fea2e4be1024", "There is no such execution"],
    ["flows/01a1f5de-c94b-72d2-8e93-fea2e4be1024", "There is no such flow"],
    ["nothing", "There is no such page"],
  ]) {
    await page.ui(where);
    await see(page, text);
  }
  await page.done();
});

test("fit a phone", async () => {
  const page = await openPage(browser, full, {viewport: {width: 390, height: 800}});
  for (const [where, text] of [...pages, ...single()]) {
    await page.ui(where);
    await see(page, text);
    const beyond = await page.evaluate(
      () => document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth,
    );
    assert.ok(beyond <= 0, `${where} is ${beyond} px too wide`);
  }
  await page.getByRole("button", {name: "Menu"}).click();
  await page.getByRole("link", {name: "Flows"}).click();
  await page.getByRole("heading", {name: "Flows"}).waitFor();
  await page.done();
});

test("show colours as the system or the reader wants", async () => {
  const page = await openPage(browser, bare, {colorScheme: "light"});
  await page.ui("system");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByRole("button", {name: "Preferences"}).click();
  await page.getByLabel("Colours").selectOption("dark");
  await page.getByLabel("Time zone").selectOption("Asia/Tokyo");
  await page.getByRole("button", {name: "Save"}).click();
  assert.notEqual(await background(), light);
  await see(page, "Asia/Tokyo");
  await page.done();
});
