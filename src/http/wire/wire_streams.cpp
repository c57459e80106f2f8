// JSON fields of streams.
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

void describe(Fields& fields, NewFrame& frame) {
  fields.defaulted("type", frame.type);
  fields.bytes("bytes", frame.bytes);
  fields.defaulted("correlation", frame.correlation);
}

void describe(Fields& fields, AppendFrames& append) {
  fields.required("id", append.id);
  fields.required("stream", append.stream);
  fields.fence(append.fence);
  fields.required("written", append.written);
  fields.required("frames", append.frames);
  fields.defaulted("durability", append.durability);
  fields.defaulted("when_full", append.when_full);
}

void describe(Fields& fields, AppendReply& reply) {
  fields.required("first", reply.first);
  fields.required("next", reply.next);
  fields.required("duplicate", reply.duplicate);
}

void describe(Fields& fields, ReadStream& read) {
  fields.required("id", read.id);
  fields.required("stream", read.stream);
  fields.defaulted("from", read.from);
  fields.defaulted("limit", read.limit);
  fields.defaulted("wait_ms", read.wait);
  fields.optional("ticket", read.ticket);
}

void describe(Fields& fields, Frame& frame) {
  fields.required("number", frame.number);
  fields.required("kind", frame.kind);
  fields.required("attempt", frame.attempt);
  fields.required("at_ms", frame.at);
  fields.required("type", frame.type);
  fields.bytes("bytes", frame.bytes);
  fields.required("correlation", frame.correlation);
}

void describe(Fields& fields, StreamPage& page) {
  fields.required("frames", page.frames);
  fields.required("next", page.next);
  fields.optional("trimmed_to", page.trimmed_to);
  fields.optional("end", page.end);
}

void describe(Fields& fields, StreamInfo& stream) {
  fields.required("name", stream.name);
  fields.required("durability", stream.durability);
  fields.required("first", stream.first);
  fields.required("next", stream.next);
  fields.required("bytes", stream.bytes);
  fields.required("attempt", stream.attempt);
  fields.required("written", stream.written);
}

void describe(Fields& fields, StreamList& list) { fields.required("streams", list.streams); }

void describe(Fields& fields, CreateStreamTicket& create) {
  fields.required("id", create.id);
  fields.defaulted("ttl_ms", create.ttl);
}

void describe(Fields& fields, StreamTicket& ticket) {
  fields.required("ticket", ticket.ticket);
  fields.required("expires_at_ms", ticket.expires_at);
}

void describe(Fields& fields, ReadFlowStream& read) {
  fields.required("id", read.id);
  fields.defaulted("after", read.after);
  fields.defaulted("limit", read.limit);
  fields.defaulted("wait_ms", read.wait);
}

void describe(Fields& fields, FlowFrame& frame) {
  fields.required("node", frame.node);
  fields.required("id", frame.id);
  fields.required("stream", frame.stream);
  fields.required("frame", frame.frame);
  fields.required("place", frame.place);
}

void describe(Fields& fields, FlowStreamPage& page) {
  fields.required("frames", page.frames);
  fields.required("next", page.next);
  fields.optional("end", page.end);
}

}  // namespace ff::http
