#include "store/valkey/listing.hpp"

#include "base/try.hpp"
#include "core/refusals.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/record.hpp"

namespace ff::valkey_store {
namespace {

bool matches(const core::Execution& execution, const ListExecutions& query) {
  if (query.tag) {
    const auto equals = query.tag->find('=');
    const auto tag = execution.tags.find(query.tag->substr(0, equals));
    if (tag == execution.tags.end() || tag->second != query.tag->substr(equals + 1)) return false;
  }
  return (!query.lane || execution.lane == *query.lane) &&
         (!query.state || core::may_show(execution, *query.state)) &&
         (!query.kind || execution.kind == *query.kind);
}

// Those that are still there, in order. An id may have been given again after its first execution was
// forgotten; the one that is meant began at that moment.
Async<std::vector<core::Execution>> read_all(Functions& functions,
                                             const std::vector<Moment>& moments) {
  std::vector<Request> requests;
  for (const auto& moment : moments) requests.push_back(functions.read(moment.id, {"newest"}));
  auto replies = co_await functions.call_all(std::move(requests));
  std::vector<core::Execution> executions;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    auto list = list_of(std::move(replies[i]));
    FF_CO_TRY(list);
    if (is_refusal(*list)) continue;  // removed meanwhile
    auto record = read_record(moments[i].id, without(std::move(*list), 2));
    FF_CO_TRY(record);
    if (record->execution.created_at == moments[i].at)
      executions.push_back(std::move(record->execution));
  }
  co_return executions;
}

}  // namespace

Async<ExecutionList> list_executions(Functions& functions, ListExecutions query) {
  ExecutionList page;
  NewestFirst order{.function = "ff_list", .ns = query.ns, .limit = query.limit};
  if (query.created_before) order.newest = *query.created_before - Millis{1};
  order.oldest = query.created_from;
  order.cursor = query.cursor;
  auto next = co_await visit_newest(
      functions, std::move(order),
      [&](const std::vector<Moment>& moments) -> Async<std::size_t> {
        const auto executions = co_await read_all(functions, moments);
        FF_CO_TRY(executions);
        for (const auto& execution : *executions)
          if (matches(execution, query)) page.executions.push_back(core::info_of(execution));
        co_return page.executions.size();
      });
  FF_CO_TRY(next);
  page.next = std::move(*next);
  co_return page;
}

}  // namespace ff::valkey_store
