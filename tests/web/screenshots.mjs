// The pictures in docs/images: node tests/web/screenshots.mjs (./run builds the program).
import {mkdir} from "node:fs/promises";
import {fileURLToPath} from "node:url";
import {launch, openPage, shortId} from "./support/browser.mjs";
import {seed} from "./support/seed.mjs";
import {Server} from "./support/server.mjs";

const folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));

const [browser, server] = await Promise.all([launch(), Server.start()]);
const made = await seed(server.api);
const pictures = [
  ["overview", "", "Latest failures", "light"],
  ["execution", `executions/${shortId(made.waiting)}`, "Timeline", "light"],
  ["flow", `flows/${shortId(made.runningFlow)}`, "nodes as", "dark"],
];

await mkdir(folder, {recursive: true});
for (const [name, where, text, colorScheme] of pictures) {
  const page = await openPage(browser, server, {
    colorScheme,
    viewport: {width: 1280, height: 720},
    reducedMotion: "reduce",
  });
  await page.ui(where);
  await page.locator("main").getByText(text).first().waitFor();
  await page.getByRole("button", {name: "Live", exact: true}).waitFor();
  await page.waitForTimeout(800);
  await page.screenshot({path: `${folder}${name}.png`});
  await page.done();
}
await browser.close();
await server.stop();
