// JSON fields of what is asked and told about the secrets that sign waitpoint tokens.
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

void describe(Fields& fields, RotateWaitpointSecret& rotate) {
  fields.required("new_kid", rotate.new_kid);
  fields.required("new_secret_hex", rotate.new_secret);
}

void describe(Fields& fields, RotateSecretReply& reply) {
  fields.required("rotated", reply.rotated);
  fields.required("failed", reply.failed);
  fields.required("in_progress", reply.in_progress);
  fields.required("new_kid", reply.new_kid);
}

void describe(Fields&, ListWaitpointKeys&) {}

void describe(Fields& fields, WaitpointKeyInfo& key) {
  fields.required("kid", key.kid);
  fields.required("current", key.current);
  fields.optional("expires_at_ms", key.expires_at);
}

void describe(Fields& fields, WaitpointKeyList& list) { fields.required("keys", list.keys); }

}  // namespace ff::http
