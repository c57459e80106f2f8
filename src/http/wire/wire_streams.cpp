// JSON fields of streams.
#include "base/text/base64.hpp"
#include "base/text/utf8.hpp"
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

template <>
struct Codec<FrameCursor> : IdCodec<FrameCursor> {
  static json::object schema(NamedSchemas&) {
    return {{"type", "string"}, {"pattern", R"(^(start|end|[-+]|[0-9]+(-[0-9]+)?)$)"}};
  }
};

// Names and texts. Bytes that are not text are NAME_base64.
template <>
struct Codec<FrameFields> {
  static constexpr std::string_view suffix = "_base64";

  static json::value write(const FrameFields& fields) {
    FieldWriter writer;
    for (const auto& [name, bytes] : fields.all) writer.write_bytes(printable(name), bytes);
    return writer.finish();
  }
  static Result<FrameFields> read(const json::value& value, Source source) {
    const auto object = read_object(value, source);
    FF_TRY(object);
    FrameFields fields;
    for (const auto& field : *object) {
      if (!field.value().is_string()) return wrong_type("an object of texts", field.value());
      std::string name(field.key());
      Result<std::string> bytes = std::string(field.value().get_string());
      if (name.ends_with(suffix)) {
        name.resize(name.size() - suffix.size());
        bytes = base64_decode(*bytes);
        FF_TRY(bytes);
      }
      fields.all.emplace_back(std::move(name), std::move(*bytes));
    }
    return fields;
  }
  static json::object schema(NamedSchemas&) {
    return {{"type", "object"}, {"additionalProperties", type_schema("string")}};
  }
};

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

void describe(Fields& fields, ReadAttemptStream& read) {
  fields.required("id", read.id);
  fields.required("attempt", read.attempt);
  fields.defaulted("from", read.from);
  fields.defaulted("to", read.to);
  fields.defaulted("limit", read.limit);
}

void describe(Fields& fields, TailAttemptStream& tail) {
  fields.required("id", tail.id);
  fields.required("attempt", tail.attempt);
  fields.defaulted("after", tail.after);
  fields.defaulted("block_ms", tail.wait);
  fields.defaulted("limit", tail.limit);
}

void describe(Fields& fields, AttemptFrame& frame) {
  fields.required("id", frame.id);
  fields.required("fields", frame.fields);
}

void describe(Fields& fields, AttemptFrames& reply) {
  fields.required("frames", reply.frames);
  fields.required("count", reply.count);
  fields.optional("closed_at", reply.closed_at);
  fields.optional("closed_reason", reply.closed_reason);
}

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
