// An operation as the audit log keeps it.
#pragma once

#include <flowfabric/operations.hpp>

#include <typeinfo>

namespace ff {

template <class Op>
inline constexpr bool is_kept_in_audit_log = Op::row.is_audited && !Op::row.is_traffic;

// The parts of an operation that an entry may have. Fields with other names (payloads, secrets, tokens) are never looked
// at, and long texts are cut.
class AuditParts {
 public:
  explicit AuditParts(AuditEntry& entry) : entry_(entry) {}

  template <class T>
  void subject(const T& value) {
    entry_.subject = shown(text_of(value));
  }
  template <class T>
  void detail(const char* name, const T& value) {
    if (auto text = text_of(value); !text.empty()) entry_.details[name] = shown(text);
  }

 private:
  static std::string shown(const std::string& text);

  static std::string text_of(const std::string& text) { return text; }
  static std::string text_of(bool value) { return value ? "true" : "false"; }
  static std::string text_of(std::int32_t number) { return std::to_string(number); }
  static std::string text_of(Millis duration) { return std::to_string(duration.count()) + " ms"; }
  static std::string text_of(const std::vector<std::string>& texts);
  static std::string text_of(const Tags& tags);  // their keys
  static std::string text_of(const BudgetSpec& spec);
  static std::string text_of(const QuotaSpec& spec);
  template <Named Enum>
  static std::string text_of(Enum value) {
    return std::string(to_string(value));
  }
  template <class Id>
    requires requires(const Id& id) { id.str(); }
  static std::string text_of(const Id& id) {
    return id.str();
  }
  template <class T>
  static std::string text_of(const std::optional<T>& value) {
    return value ? text_of(*value) : std::string{};
  }

  AuditEntry& entry_;
};

// The name of an operation: that of its struct.
std::string operation_name(const std::type_info& type);

// Without the outcome. An operation on an object whose id the engine makes has no subject yet.
template <class Op>
AuditEntry audit_entry_of(const Op& op, const Caller& caller) {
  AuditEntry entry{.who = caller.name, .from = caller.from, .ns = caller.ns, .what = operation_name(typeid(Op))};
  AuditParts parts(entry);
  if constexpr (requires { op.ns; }) entry.ns = op.ns;
  if constexpr (requires { op.id; }) parts.subject(op.id);
  else if constexpr (requires { op.lane; }) parts.subject(op.lane);
  else if constexpr (requires { op.worker; }) parts.subject(op.worker);
  else if constexpr (requires { op.new_kid; }) parts.subject(op.new_kid);
  else if constexpr (requires { op.name; }) parts.subject(op.name);
  if constexpr (requires { op.reason; }) parts.detail("reason", op.reason);
  if constexpr (requires { op.policy; }) parts.detail("policy", op.policy);
  if constexpr (requires { op.priority; }) parts.detail("priority", op.priority);
  if constexpr (requires { op.delay; }) parts.detail("delay", op.delay);
  if constexpr (requires { op.draining; }) parts.detail("draining", op.draining);
  if constexpr (requires { op.from; }) parts.detail("from", op.from);
  if constexpr (requires { op.dry_run; }) parts.detail("dry_run", op.dry_run);
  if constexpr (requires { op.lease_id; }) parts.detail("lease_id", op.lease_id);
  if constexpr (requires { op.waitpoint; }) parts.detail("waitpoint", op.waitpoint);
  if constexpr (requires { op.signal; }) parts.detail("signal", op.signal);
  if constexpr (requires { op.requested_by; }) parts.detail("requested_by", op.requested_by);
  if constexpr (requires { op.set; }) parts.detail("set", op.set);
  if constexpr (requires { op.remove; }) parts.detail("remove", op.remove);
  if constexpr (requires { op.spec; }) parts.detail("limits", op.spec);
  return entry;
}

}  // namespace ff
