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
  fields.defaulted("kind", append.kind);
  fields.defaulted("lost", append.lost);
  fields.defaulted("usage", append.usage);
}

void describe(Fields& fields, AppendReply& reply) {
  fields.required("first", reply.first);
  fields.required("next", reply.next);
  fields.required("duplicate", reply.duplicate);
  fields.optional("action", reply.action);
}

void describe(Fields& fields, ReadStream& read) {
  fields.required("id", read.id);
  fields.required("stream", read.stream);
  fields.defaulted("from", read.from);
  fields.defaulted("limit", read.limit);
  fields.defaulted("wait_ms", read.wait);
}

void describe(Fields& fields, Frame& frame) {
  fields.required("number", frame.number);
  fields.required("kind", frame.kind);
  fields.required("attempt", frame.attempt);
  fields.required("at_ms", frame.at);
  fields.required("type", frame.type);
  fields.bytes("bytes", frame.bytes);
  fields.required("correlation", frame.correlation);
  fields.optional("lost_from", frame.lost_from);
}

void describe(Fields& fields, StreamSnapshot& snapshot) {
  fields.required("document", snapshot.document);
  fields.required("version", snapshot.version);
}

void describe(Fields& fields, StreamPage& page) {
  fields.required("frames", page.frames);
  fields.required("next", page.next);
  fields.optional("trimmed_to", page.trimmed_to);
  fields.optional("lost_from", page.lost_from);
  fields.optional("snapshot", page.snapshot);
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
  fields.defaulted("kind", stream.kind);
  fields.defaulted("version", stream.version);
}

void describe(Fields& fields, StreamList& list) { fields.required("streams", list.streams); }

}  // namespace ff::http
