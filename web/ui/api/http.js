// Requests to the public API.
import {learnClock} from "../base/time.js";
import {apiUrl} from "../base/urls.js";

export class Problem extends Error {
  constructor({status, code, detail, field}) {
    super(detail || code || `status ${status}`);
    this.status = status;
    this.code = code || "";
    this.field = field;
  }
  // The server does not know this operation at all.
  get isMissing() {
    return this.code === "route_not_found" || this.status === 405;
  }
}

// Integers beyond what a number of JavaScript can hold become bigints, so that they are shown exactly.
function exactNumber(_, value, context) {
  const inexact = typeof value === "number" && !Number.isSafeInteger(value) && context;
  return inexact && /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}

export function parseJson(text) {
  return /[:[,]\s*-?\d{16}/.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
}

let unauthenticated = () => {};
export const onUnauthenticated = (act) => (unauthenticated = act);

// What a login session demands of requests that change something; kept by this page alone.
const session = {};
export const setSession = (headers) => Object.assign(session, headers);

async function problemOf(reply) {
  let fields = {};
  try {
    fields = JSON.parse(await reply.text());
  } catch {
    // Not of this server: a proxy between, for example.
  }
  return new Problem({
    ...fields,
    status: reply.status,
    detail: fields.detail || `the server answered ${reply.status}`,
  });
}

// The reply, whatever its body; refusals are thrown as Problem.
export async function send(method, where, {query, body, headers, signal} = {}) {
  const sent = {...headers};
  if (method !== "GET") Object.assign(sent, session);
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let reply;
  try {
    reply = await fetch(apiUrl(where, query), {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      referrerPolicy: "no-referrer",
    });
  } catch (failure) {
    if (failure.name === "AbortError") throw failure;
    throw new Problem({status: 0, code: "unreachable", detail: "the server cannot be reached"});
  }
  learnClock(reply.headers.get("Date"));
  if (reply.ok) return reply;
  const problem = await problemOf(reply);
  if (reply.status === 401) unauthenticated(problem);
  throw problem;
}

async function json(method, where, options) {
  const text = await (await send(method, where, options)).text();
  return text === "" ? {} : parseJson(text);
}

export const get = (where, query, signal) => json("GET", where, {query, signal});
export const post = (where, body = {}, signal) => json("POST", where, {body, signal});
export const put = (where, body = {}) => json("PUT", where, {body});
export const del = (where) => json("DELETE", where);

// Bytes, never looked at by the browser: {bytes, type}; null for a result that is none (204).
export async function getBytes(where, signal) {
  const reply = await send("GET", where, {signal});
  if (reply.status === 204) return null;
  return {bytes: new Uint8Array(await reply.arrayBuffer()), type: reply.headers.get("Content-Type") || ""};
}

// What `ask` gives, or undefined if this server does not know the operation, or the caller may not use it.
export async function ifKnown(ask) {
  try {
    return await ask;
  } catch (problem) {
    if (problem instanceof Problem && (problem.isMissing || problem.status === 403)) return undefined;
    throw problem;
  }
}
