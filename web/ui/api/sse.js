// Server-sent events read by fetch: unlike EventSource it tells why a stream was refused, and takes every type.
import {send} from "./http.js";

const buffer_max = 4 * 1024 * 1024;

function* messagesIn(lines) {
  let message = {event: "message", data: "", id: undefined};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") message.event = value;
    else if (name === "id") message.id = value;
    else if (name === "data") message.data += (message.data && "\n") + value;
  }
  if (message.data !== "" || message.event !== "message") yield message;
}

// {event, data, id} as they arrive, the first one an `open` of our own, until the server or the signal ends the stream.
export async function* serverEvents(where, {query, signal}) {
  const reply = await send("GET", where, {query, signal, headers: {Accept: "text/event-stream"}});
  if (reply.status === 204) return;
  yield {event: "open", data: ""};
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  while (true) {
    const {value, done} = await reader.read();
    if (done) return;
    buffer += value;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop();
    if (buffer.length > buffer_max) throw new Error("an event is too long");
    for (const block of blocks) yield* messagesIn(block.split("\n"));
  }
}
