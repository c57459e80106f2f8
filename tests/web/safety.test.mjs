// What clients write can do nothing in the dashboard; nothing is kept or sent that must not be.
import assert from "node:assert/strict";
import {readdir, readFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";
import {launch, openPage, shortId} from "./support/browser.mjs";
import {startProxy} from "./support/proxy.mjs";
import {Server} from "./support/server.mjs";

const web = fileURLToPath(new URL("../../web/ui/", import.meta.url));

let browser, server, api;

before(async () => {
  [browser, server] = await Promise.all([launch(), Server.start()]);
  ({api} = server);
});

after(async () => {
  await browser.close();
  await server.stop();
});

const corpus = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '"><svg onload=alert(1)>',
  "javascript:alert(1)",
  "{{constructor.constructor('alert(1)')()}}",
  "<a href=https://evil.example>x</a>",
  "'-alert(1)-'",
  "<base href=//evil.example/>",
  "</title><style>@import'//evil.example'</style>",
];

// One execution and one flow with a text in every field that a client controls.
async function plant(text) {
  const kind = text.slice(0, 128);
  const lane = text.slice(0, 64);
  await api.submit(kind, {
    lane,
    payload: text,
    content_type: "text/html",
    tags: {"app.x": text},
    idempotency_key: `k${text.replace(/\s/g, "_")}`,
  });
  const claimed = await api.claim([kind], {worker: "w", lanes: [lane]});
  await api.progress(claimed, 50, text);
  await api.write(claimed, [text]);
  await api
    .call("PUT", `${claimed.path}/steps/${encodeURIComponent(text.replace(/[^!-~]/g, "_").replaceAll("/", "|"))}`, {
      ...claimed.fence,
      result: text,
    })
    .catch(() => {});
  await api.ask(claimed, {title: text, text, choices: [{signal: "ok", label: text}], approvers: [text]});
  await api.post(`${claimed.path}/signals/note`, {payload: text, source: {type: "x", identity: text}});
  await api.submit(kind, {lane, tags: {"app.x": text}});
  await api
    .fail(await api.claim([kind], {worker: "w", lanes: [lane]}).catch(() => claimed), text, text.slice(0, 60))
    .catch(() => {});
  const {id} = await api.post("flows", {kind, tags: {"app.x": text}, nodes: [{name: "a", kind, lane: "never"}]});
  await api.post(`flows/${shortId(id)}/cancel`, {reason: text});
  await api
    .post("budgets", {hard_limits: {tokens: 5}, scope_type: text.slice(0, 60), scope_id: text.slice(0, 60)})
    .catch(() => {});
  return {id: claimed.id, flow: id, kind};
}

test("texts of clients stay texts, on every page", async () => {
  const page = await openPage(browser, server);
  const planted = [];
  for (const text of corpus) planted.push(await plant(text));
  const lists = ["", "executions", "flows", "approvals", "lanes", "workers", "budgets", "quotas", "events", "system"];
  const tabs = ["", "data", "output", "waits", "history"];
  const one = planted[1];
  const places = [
    ...lists,
    ...planted.flatMap(({id}) => [`executions/${shortId(id)}`, `executions/${shortId(id)}?tab=waits`]),
    ...tabs.map((tab) => `executions/${shortId(one.id)}?tab=${tab}`),
    ...["", "nodes", "output"].map((tab) => `flows/${shortId(one.flow)}?tab=${tab}`),
  ];
  for (const where of places) {
    await page.ui(where);
    await page.locator("main h1").waitFor();
    await page.waitForFunction(() => !document.querySelector("main .loading"));
    const found = await page.evaluate(
      () =>
        document.querySelectorAll(
          "main script, main img, main base, main style, main iframe, main [onload], main [onerror]",
        ).length,
    );
    assert.equal(found, 0, where);
  }
  await page.ui(`executions/${shortId(one.id)}`);
  await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
  await page.done();
});

test("characters that one cannot see are shown", async () => {
  const id = await api.submit("plain", {
    payload: "abc\u202Efdp.exe\u0000\u200B",
    tags: {"app.name": "in\u202Evoice"},
  });
  const page = await openPage(browser, server);
  await page.ui(`executions/${shortId(id)}?tab=data`);
  await page.locator("pre .mark", {hasText: "U+202E"}).waitFor();
  assert.deepEqual(await page.locator("pre .mark").allTextContents(), ["U+202E", "U+0000", "U+200B"]);
  await page.ui(`executions/${shortId(id)}`);
  await page.locator(".chip .mark", {hasText: "U+202E"}).waitFor();
  await page.done();
});

test("numbers beyond 2^53 and bytes that are no text are shown exactly", async () => {
  const page = await openPage(browser, server);
  const big = await api.submit("big", {payload: '{"rows": 9007199254740993}', content_type: "application/json"});
  await page.ui(`executions/${shortId(big)}?tab=data`);
  await page.getByText("9007199254740993").waitFor();
  const read = await page.evaluate(async () => {
    const {parseJson} = await import(new URL("api/http.js", document.querySelector("script[src]").src));
    return String(parseJson('{"a": [1, 9007199254740993]}').a[1]);
  });
  assert.equal(read, "9007199254740993");
  const bytes = await api.submit("raw", {payload_base64: "/wD+QQ=="});
  await page.ui(`executions/${shortId(bytes)}?tab=data`);
  await page.getByText("ff 00 fe 41").waitFor();
  await page.getByText("4 bytes").waitFor();
  await page.done();
});

test("the policy allows only this server's scripts, and nothing is kept but preferences", async () => {
  const page = await openPage(browser, server);
  const reply = await page.ui("executions");
  const policy = reply.headers()["content-security-policy"];
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "require-trusted-types-for 'script'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ])
    assert.ok(policy.includes(part), policy);
  assert.ok(!policy.includes("unsafe"), policy);
  assert.equal(reply.headers()["cache-control"], "no-cache");
  await page.getByRole("heading", {name: "Executions"}).waitFor();
  assert.deepEqual(
    await page.evaluate(() => [Object.keys(localStorage), Object.keys(sessionStorage), document.cookie]),
    [[], [], ""],
  );
  const refused = await page.evaluate(() => {
    try {
      document.createElement("div").innerHTML = "<b>x</b>";
      return "allowed";
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(refused, "TypeError");
  await page.context().close(); // the refusal is in the console
});

test("works below a path of a proxy", async (context) => {
  const proxy = await startProxy(server.url, "/tools/ff");
  context.after(() => proxy.stop());
  const page = await openPage(browser, proxy);
  await page.goto(`${proxy.url}/ui`);
  await page.getByRole("heading", {name: "Overview"}).waitFor();
  assert.equal(page.url(), `${proxy.url}/ui/`);
  await page.getByRole("link", {name: "Executions", exact: true}).click();
  await page.getByRole("row").nth(1).getByRole("link").click();
  await page.getByRole("tab", {name: "Overview"}).waitFor();
  assert.match(page.url(), /\/tools\/ff\/ui\/executions\//);
  await page.reload();
  await page.getByText("Timeline").waitFor();
  await page.ui(`flows?state=cancelled`);
  await page.getByRole("row").nth(1).getByRole("link").click();
  await page.locator(".graph .node").first().waitFor();
  await page.done();
});

async function filesOf(folder) {
  const entries = await readdir(folder, {withFileTypes: true, recursive: true});
  return entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath || entry.path}/${entry.name}`);
}

test("the files come as they are in the repository, are kept by browsers, and are small", async () => {
  const shell = await (await fetch(`${server.url}/ui/`)).text();
  const assets = /assets\/[^/]+/.exec(shell)[0];
  let size = 0;
  for (const file of await filesOf(web)) {
    const text = await readFile(file);
    size += gzipSync(text, {level: 9}).length;
    const name = file.slice(web.length).replace(/^\//, "");
    if (name === "index.html") continue;
    const reply = await fetch(`${server.url}/ui/${assets}/${name}`);
    assert.equal(await reply.text(), text.toString(), name);
    assert.match(reply.headers.get("cache-control"), /immutable/);
  }
  assert.ok(size <= 150 * 1024, `${size} bytes`);
});

// What login sessions are to the dashboard, played by the test: a cookie that the browser adds, and a header.
test("after a login, changes carry the token of the session, and controls follow the roles", async (context) => {
  const token = "a-token-0123456789";
  const locked = await Server.start({env: {FF_API_TOKEN: token}});
  context.after(() => locked.stop());
  const page = await openPage(browser, locked, {expectedFailures: ["/v1/"]});
  let roles = null;
  const changes = [];
  await page.route(/\/v1\//, async (route) => {
    const request = route.request();
    const {pathname} = new URL(request.url());
    if (pathname === "/v1/login") {
      roles = JSON.parse(request.postData()).token === token ? ["submit"] : null;
      return route.fulfill({
        status: roles ? 200 : 401,
        json: roles ? {csrf_token: "c-1"} : {code: "unauthenticated", status: 401},
      });
    }
    if (!roles) return route.fulfill({status: 401, json: {code: "unauthenticated", detail: "no token", status: 401}});
    if (pathname === "/v1/whoami")
      return route.fulfill({json: {name: "ada", roles, payloads: true, needs_token: true, csrf_token: "c-1"}});
    if (request.method() !== "GET") changes.push(request.headers()["x-csrf-token"]);
    return route.continue({headers: {...request.headers(), authorization: `Bearer ${token}`}});
  });
  await page.ui("executions");
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", {name: "Log in"}).click();
  await page.getByText("There are no executions yet").waitFor();
  await page.getByText("ada").waitFor();
  await page.getByRole("button", {name: "Submit…"}).click();
  await page.getByRole("dialog").getByLabel("Kind").fill("k");
  await page.getByRole("button", {name: "Submit", exact: true}).click();
  await page.getByRole("heading", {name: /waiting k/}).waitFor();
  assert.deepEqual(changes, ["c-1"]);
  roles = ["read"];
  await page.ui("executions");
  await page.getByRole("row", {name: /waiting/}).waitFor();
  assert.equal(await page.getByRole("button", {name: "Submit…"}).count(), 0);
  await page.ui("budgets");
  await page.getByText("There are no budgets").waitFor();
  assert.equal(await page.getByRole("button", {name: "Create…"}).count(), 0);
  await page.done();
});

test("a server with tokens asks who one is", async (context) => {
  const locked = await Server.start({env: {FF_API_TOKEN: "a-token-0123456789"}});
  context.after(() => locked.stop());
  const page = await openPage(browser, locked, {expectedFailures: ["/v1/"]});
  await page.ui("executions");
  await page.getByRole("heading", {name: "Log in"}).waitFor();
  const can = (await fetch(`${locked.url}/v1/login`, {method: "POST"})).status;
  await page.getByLabel("Token").fill("wrong-token-0123456789");
  await page.getByRole("button", {name: "Log in"}).click();
  await page.locator(".form-problem", {hasText: /token/}).waitFor();
  assert.ok(!page.url().includes("wrong-token"));
  assert.deepEqual(await page.evaluate(() => [Object.keys(localStorage), document.cookie]), [[], ""]);
  assert.ok([401, 404, 405, 415, 400, 403].includes(can), String(can));
  await page.done();
});
