// The keyboard alone: from the first page to a replay and back; shortcuts can be switched off.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {launch, openPage, shortId} from "./support/browser.mjs";
import {Server} from "./support/server.mjs";

let browser, server;

before(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
});

after(async () => {
  await browser.close();
  await server.stop();
});

// Tab until what has the focus is called so.
async function tabTo(page, name, max = 60) {
  for (let at = 0; at < max; ++at) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate(
      () =>
        document.activeElement.textContent.trim() ||
        document.activeElement.getAttribute("aria-label") ||
        document.activeElement.id,
    );
    if (found === name) return;
  }
  assert.fail(`Tab does not lead to ${name}`);
}

test("lead from the overview to a replay", async () => {
  const {api} = server;
  const id = await api.submit("import");
  await api.fail(await api.claim(["import"]), "row 17 has no price");
  const page = await openPage(browser, server);
  await page.ui();
  await page.getByText("Latest failures").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await page.getByRole("heading", {name: "Executions"}).waitFor();
  await page.getByRole("row", {name: /import/}).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByText("1 selected").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: /failed import/}).waitFor();
  await tabTo(page, "Replay…");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, "Replay", 5);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: /waiting import/}).waitFor();
  assert.equal((await api.get(`executions/${shortId(id)}/state`)).state, "waiting");
  await page.done();
});

test("reach the page past the navigation, tabs by arrows, and filters by /", async () => {
  const id = await server.api.submit("other");
  const page = await openPage(browser, server);
  await page.ui("executions");
  await page.getByRole("row", {name: /other/}).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("other");
  await page.waitForURL(/kind=other/);
  await page.keyboard.press("Escape");
  await page.ui(`executions/${shortId(id)}`);
  await page.getByRole("heading", {name: /waiting other/}).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the page");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  await page.getByRole("tab", {name: "Overview"}).focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/tab=data/);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Payload and result");
  await page.done();
});

test("help lists the keys; they rest in dialogs, and for good if switched off", async () => {
  const page = await openPage(browser, server);
  await page.ui("flows");
  await page.getByRole("heading", {name: "Flows"}).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("Go to Executions").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  assert.match(page.url(), /flows$/);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({state: "detached"});
  await page.getByRole("button", {name: "Preferences"}).click();
  await page.getByLabel("Keyboard shortcuts").selectOption("off");
  await page.getByRole("button", {name: "Save"}).click();
  await page.getByRole("dialog").waitFor({state: "detached"});
  await page.keyboard.press("?");
  assert.equal(await page.getByRole("dialog").count(), 0);
  await page.done();
});
