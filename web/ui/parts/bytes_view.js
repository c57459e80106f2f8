// Bytes of users: as text if they are text, else as a dump. Nothing of them is ever interpreted by the browser.
import {h, replace} from "../base/dom.js";
import {bytes as byteText} from "../base/format.js";
import {apiUrl} from "../base/urls.js";
import {getBytes, parseJson} from "../api/http.js";
import {button, copyText} from "./bits.js";
import {fill, loading} from "./messages.js";

const text_shown_max = 64 * 1024;
const dump_shown_max = 4 * 1024;

export function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(bytes);
  } catch {
    return null;
  }
}

const hex = (n, width) => n.toString(16).padStart(width, "0");

export function dump(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const printable = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    lines.push(
      `${hex(at, 8)}  ${part
        .map((byte) => hex(byte, 2))
        .join(" ")
        .padEnd(47)}  ${printable}`,
    );
  }
  return lines.join("\n");
}

// Indented, or null if it is no JSON or would lose digits.
function indented(text) {
  try {
    const parsed = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return null;
    if (
      parsed !== null &&
      JSON.stringify(parsed) !== JSON.stringify(parseJson(text), (_, v) => (typeof v === "bigint" ? `${v}` : v))
    )
      return null;
    return JSON.stringify(parsed, null, 2);
  } catch {
    return null;
  }
}

function show(box, bytes, {all = false, raw = false} = {}) {
  const text = textOf(bytes);
  const again = (changes) => show(box, bytes, {all, raw, ...changes});
  const most = text === null ? dump_shown_max : text_shown_max;
  const cut = !all && bytes.length > most;
  const shown = cut ? bytes.subarray(0, most) : bytes;
  const pretty = text !== null && !cut && !raw ? indented(text) : null;
  const content = text === null ? dump(shown) : pretty !== null ? pretty : cut ? text.slice(0, most) : text;
  replace(
    box,
    h("pre", {class: "bytes", tabindex: "0"}, content === "" ? h("span", {class: "quiet"}, "empty") : content),
    h(
      "div",
      {class: "row"},
      cut ? button(`Show all ${byteText(bytes.length)}`, () => again({all: true})) : null,
      pretty !== null ? button("As it was sent", () => again({raw: true}), {kind: "plain"}) : null,
      raw ? button("Indented", () => again({raw: false}), {kind: "plain"}) : null,
      text !== null && bytes.length > 0
        ? button("Copy", () => copyText(text, "the text"), {kind: "plain", symbol: "copy"})
        : null,
    ),
  );
}

// A box that fetches and shows what is at a path of the API.
export function bytesView(title, where, signal) {
  const box = h("div", {}, loading());
  const size = h("span", {class: "quiet"});
  fill(
    box,
    async () => {
      const got = await getBytes(where, signal);
      if (!got) return h("p", {class: "quiet"}, "There is none.");
      replace(size, `${byteText(got.bytes.length)}${got.type ? ` · ${got.type}` : ""}`);
      const inner = h("div", {});
      show(inner, got.bytes);
      return inner;
    },
    signal,
  );
  return h(
    "section",
    {class: "card"},
    h(
      "header",
      {},
      h("h2", {}, title),
      size,
      h(
        "div",
        {class: "actions"},
        h("a", {class: "button plain", href: apiUrl(where).href, download: ""}, "Download"),
      ),
    ),
    box,
  );
}

// The bytes of a frame or a signal, which come as text or as base64.
export function shownBytes({text, base64}) {
  if (base64 === undefined) return text || "";
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return textOf(bytes) ?? dump(bytes.subarray(0, dump_shown_max));
}
