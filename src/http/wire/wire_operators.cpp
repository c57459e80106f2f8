// JSON fields of what is asked and told about lanes, the audit log and the caller.
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

// ---- Lanes --------------------------------------------------------------------------------------

void describe(Fields& fields, PauseLane& pause) {
  fields.required("lane", pause.lane);
  fields.defaulted("namespace", pause.ns);
  fields.defaulted("reason", pause.reason);
}

void describe(Fields& fields, ResumeLane& resume) {
  fields.required("lane", resume.lane);
  fields.defaulted("namespace", resume.ns);
}

void describe(Fields& fields, LanePause& pause) {
  fields.required("by", pause.by);
  fields.required("since_ms", pause.since);
  fields.required("reason", pause.reason);
}

void describe(Fields& fields, LanePauseReply& reply) {
  fields.optional("paused", reply.pause);
  fields.required("unchanged", reply.unchanged);
}

void describe(Fields& fields, ListLanes& list) {
  fields.defaulted("namespace", list.ns);
  fields.defaulted("limit", list.limit);
  fields.optional("after", list.after);
}

void describe(Fields& fields, LaneStateCount& count) {
  fields.required("state", count.state);
  fields.required("count", count.count);
}

void describe(Fields& fields, LaneInfo& lane) {
  fields.required("lane", lane.lane);
  fields.optional("paused", lane.pause);
  fields.required("counts", lane.counts);
  fields.required("workers", lane.workers);
}

void describe(Fields& fields, LaneList& list) {
  fields.required("lanes", list.lanes);
  fields.optional("next", list.next);
}

// ---- The audit log ------------------------------------------------------------------------------

void describe(Fields& fields, ReadAudit& read) {
  fields.optional("namespace", read.ns);
  fields.optional("since_ms", read.since);
  fields.optional("until_ms", read.until);
  fields.optional("who", read.who);
  fields.optional("what", read.what);
  fields.optional("after", read.after);
  fields.defaulted("limit", read.limit);
}

void describe(Fields& fields, AuditEntry& entry) {
  fields.required("id", entry.id);
  fields.required("at_ms", entry.at);
  fields.required("who", entry.who);
  fields.required("from", entry.from);
  fields.optional("namespace", entry.ns);
  fields.required("what", entry.what);
  fields.required("subject", entry.subject);
  fields.required("details", entry.details);
  fields.required("outcome", entry.outcome);
}

void describe(Fields& fields, AuditPage& page) {
  fields.required("entries", page.entries);
  fields.optional("next", page.next);
}

// ---- The caller ---------------------------------------------------------------------------------

void describe(Fields& fields, Login& login) { fields.optional("token", login.token); }

void describe(Fields&, WhoAmI&) {}

void describe(Fields& fields, Identity& identity) {
  fields.required("name", identity.name);
  fields.required("roles", identity.roles);
  fields.optional("namespace", identity.ns);
  fields.optional("expires_at_ms", identity.expires_at);
  fields.required("payloads", identity.sees_payloads);
  fields.required("needs_token", identity.needs_token);
  fields.optional("csrf_token", identity.csrf_token);
}

}  // namespace ff::http
