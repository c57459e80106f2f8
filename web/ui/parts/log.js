// What a stream says, as it is written: the last lines, which follow the end unless one has scrolled away from it.
import {append, h, replace} from "../base/dom.js";
import {clock} from "../base/time.js";
import {serverEvents} from "../api/sse.js";
import {parseJson} from "../api/http.js";
import {shownBytes} from "./bytes_view.js";

const pieces_max = 2000;
const retry_ms = 2000;

export class Log {
  constructor({label}) {
    this.text = h("pre", {class: "log", tabindex: "0", role: "log", "aria-label": label, "aria-live": "off"});
    this.status = h("p", {class: "quiet log-status", role: "status"});
    this.element = h("div", {class: "log-box"}, this.text, this.status);
    this.pending = [];
  }

  say(...text) {
    replace(this.status, ...text);
  }

  add(node) {
    this.pending.push(node);
    if (this.pending.length === 1) requestAnimationFrame(() => this.draw());
  }

  draw() {
    const {text} = this;
    const atEnd = text.scrollHeight - text.scrollTop - text.clientHeight < 40;
    text.append(...this.pending.slice(-pieces_max));
    this.pending = [];
    let more = text.childNodes.length - pieces_max;
    while (more-- > 0) text.firstChild.remove();
    if (atEnd) text.scrollTop = text.scrollHeight;
  }

  note(text) {
    this.add(h("span", {class: "log-note"}, `— ${text} —`));
  }

  frame(frame, node) {
    if (frame.kind === "attempt") return this.note(`attempt ${frame.attempt} began at ${clock(frame.at_ms)}`);
    if (frame.kind === "lost") return this.note(`frames from ${frame.lost_from} on were lost`);
    const text = shownBytes({text: frame.bytes, base64: frame.bytes_base64});
    const type = frame.type && frame.type !== "data" ? h("span", {class: "log-type"}, frame.type, " ") : null;
    const from = node ? h("span", {class: "log-node"}, node, " ") : null;
    this.add(
      append(
        h("span", {class: "log-piece", title: `frame ${frame.number}, ${clock(frame.at_ms)}`}),
        from,
        type,
        text,
        node && !text.endsWith("\n") ? "\n" : null,
      ),
    );
  }

  // Reads a stream of the API to its end and comes back to a server that restarts; `place` is where to begin.
  async follow(where, place, signal) {
    const control = {[place]: undefined};
    this.say("Waiting for output…");
    while (!signal.aborted) {
      try {
        for await (const message of serverEvents(where, {query: control, signal})) {
          if (message.id) control[place] = message.id;
          if (this.take(message)) return;
        }
        if (this.ended) return;
      } catch (problem) {
        if (signal.aborted) return;
        if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) return this.say(problem.message);
        this.say("The connection is lost; trying again…");
      }
      await new Promise((done) => setTimeout(done, retry_ms));
    }
  }

  // True at the end of the stream.
  take({event, data}) {
    if (event === "open") return (this.say("Following"), false);
    const said = parseJson(data);
    if (event === "end") {
      this.ended = true;
      this.say(`The end: ${said.end || said.state || "ended"}`);
      return true;
    }
    if (event === "trimmed") this.note(`what came before frame ${said.trimmed_to} is no longer kept`);
    else if (event === "snapshot") this.note(`document: ${JSON.stringify(said.document ?? said.snapshot ?? said)}`);
    else if (said.frame) this.frame(said.frame, said.node);
    else this.frame(said);
    return false;
  }
}
