// JSON fields of bulk jobs.
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

// What is done has no object of its own: its fields stand beside those of the job.
void describe_work(Fields& fields, BulkWork& work) {
  fields.required("action", work.action);
  fields.defaulted("reason", work.reason);
  fields.optional("priority", work.priority);
  fields.defaulted("set", work.set);
  fields.defaulted("remove", work.remove);
}

}  // namespace

void describe(Fields& fields, StartBulk& start) {
  fields.optional("id", start.id);
  fields.defaulted("namespace", start.ns);
  fields.required("where", start.where);
  describe_work(fields, start.work);
  fields.defaulted("requested_by", start.requested_by);
  fields.defaulted("dry_run", start.dry_run);
}

void describe(Fields& fields, StartBulkReply& reply) {
  fields.optional("id", reply.id);
  fields.required("duplicate", reply.duplicate);
  fields.required("where", reply.where);
  fields.optional("matches", reply.matches);
  fields.required("at_least", reply.at_least);
}

void describe(Fields& fields, BulkFailure& failure) {
  fields.required("id", failure.id);
  fields.required("error", failure.error);
  fields.required("message", failure.message);
}

void describe(Fields& fields, BulkInfo& bulk) {
  fields.required("id", bulk.id);
  fields.required("namespace", bulk.ns);
  fields.required("where", bulk.where);
  describe_work(fields, bulk.work);
  fields.required("state", bulk.state);
  fields.required("matched", bulk.counts.matched);
  fields.required("done", bulk.counts.done);
  fields.required("failed", bulk.counts.failed);
  fields.required("skipped", bulk.counts.skipped);
  fields.required("failures", bulk.failures);
  fields.required("requested_by", bulk.requested_by);
  fields.optional("error", bulk.error);
  fields.required("created_at_ms", bulk.created_at);
  fields.optional("ended_at_ms", bulk.ended_at);
}

void describe(Fields& fields, BulkList& list) {
  fields.required("bulks", list.bulks);
  fields.optional("next", list.next);
}

void describe(Fields& fields, ListBulks& list) {
  fields.defaulted("namespace", list.ns);
  fields.defaulted("limit", list.limit);
  fields.optional("after", list.after);
}

}  // namespace ff::http
