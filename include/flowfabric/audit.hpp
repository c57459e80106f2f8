// The audit log: which operator's actions were carried out or refused, kept in the store for a time.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/time.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ff {

struct AuditEntry {
  std::string id = {};  // its place in the log
  TimePoint at{};       // by the store's clock
  std::string who = {};  // the caller's name
  std::string from = {};  // the address that the call came from, or `embedded`
  std::optional<Namespace> ns = {};  // that the action named, or the only one that its caller may see
  std::string what = {};             // the operation, as in the OpenAPI document
  std::string subject = {};          // what it was about: an id or a name
  std::map<std::string, std::string> details = {};  // other arguments; never payloads or secrets
  std::string outcome = {};                         // ok, or the code of the error
  bool operator==(const AuditEntry&) const = default;
};

struct AuditPage {
  std::vector<AuditEntry> entries;       // the newest first
  std::optional<std::string> next = {};  // `after` of the next page. A page may be short, or even empty, before the end.
};

struct ReadAudit {
  using Reply = AuditPage;
  static constexpr OperationRow row{
      .is_stored = true,
      .http = {HttpMethod::get, "/v1/audit", Role::admin, "Read the audit log, the newest first"}};
  std::optional<Namespace> ns = {};  // absent: the whole log
  std::optional<TimePoint> since = {};
  std::optional<TimePoint> until = {};  // that moment not included
  std::optional<std::string> who = {};
  std::optional<std::string> what = {};
  std::optional<std::string> after = {};  // `next` of the page before
  std::uint32_t limit = 100;
};

}  // namespace ff
