#include <flowfabric/engine.hpp>

#include <boost/core/demangle.hpp>

#include "core/audit/commands.hpp"
#include "core/audit/names.hpp"

namespace ff::core {
namespace {

template <class... Ops>
std::set<std::string> names_of(OperationList<Ops...>) {
  return {operation_name(typeid(Ops))...};
}

}  // namespace

std::string operation_name(const std::type_info& type) {
  const auto full = boost::core::demangle(type.name());
  return full.substr(full.rfind(':') + 1);
}

const std::set<std::string>& audited_operations() {
  static const auto names = names_of(Filtered<EngineOperations, []<class Op>() {
    return Op::row.is_audited && !Op::row.is_traffic;
  }>{});
  return names;
}

bool matches(const ReadAudit& query, const AuditEntry& entry) {
  return (!query.ns || entry.ns == query.ns) && (!query.who || entry.who == *query.who) &&
         (!query.what || entry.what == *query.what);
}

std::unexpected<Error> wrong_audit_cursor() {
  return fail_field(Errc::invalid_input, "after",
                    "after must be `next` of a page of the audit log, as it was given");
}

}  // namespace ff::core
