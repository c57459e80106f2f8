// A headless Chromium, and pages of it that notice what must not happen: errors in the console, violations of the
// policy, dialogs, requests to other servers.
import assert from "node:assert/strict";
import {chromium} from "playwright-core";

export const executablePath = "/usr/bin/chromium";

const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const launch = () => chromium.launch({executablePath, args: quiet});

export async function openPage(browser, server, {expectedFailures = [], ...options} = {}) {
  const context = await browser.newContext({viewport: {width: 1360, height: 820}, timezoneId: "UTC", ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const wrong = [];
  const isExpected = (url) => expectedFailures.some((part) => url.includes(part));
  page.on("console", (message) => {
    const lost = message.text().startsWith("Failed to load resource") && isExpected(message.location().url);
    if (["error", "warning"].includes(message.type()) && !lost)
      wrong.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  const {host} = new URL(server.url);
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.host !== host && url.protocol !== "data:") wrong.push(`foreign request: ${request.url()}`);
  });
  page.ui = (where = "") => page.goto(`${server.url}/ui/${where}`);
  page.done = async () => {
    assert.deepEqual(wrong, []);
    await context.close();
  };
  return page;
}

// The form of ids in paths.
export function shortId(id) {
  const found = /^\{fp:(\d+)\}:(.+)$/.exec(id);
  return found ? `${found[1]}-${found[2]}` : id;
}
