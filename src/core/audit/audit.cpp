#include "core/audit/commands.hpp"

namespace ff::core {

bool matches(const ReadAudit& query, const AuditEntry& entry) {
  return (!query.ns || entry.ns == query.ns) && (!query.who || entry.who == *query.who) &&
         (!query.what || entry.what == *query.what);
}

std::unexpected<Error> wrong_audit_cursor() {
  return fail_field(Errc::invalid_input, "after",
                    "after must be `next` of a page of the audit log, as it was given");
}

}  // namespace ff::core
