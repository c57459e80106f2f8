#include "store/valkey/listing.hpp"

#include "base/try.hpp"
#include "core/filters/filter.hpp"
#include "core/refusals.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/record.hpp"

namespace ff::valkey_store {
namespace {

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

Async<ExecutionList> list_executions(Functions& functions, ListExecutions query, TimePoint now) {
  const auto filter = core::filter_of(query, now);
  FF_CO_TRY(filter);
  ExecutionList page;
  NewestFirst order{.function = "ff_list", .ns = query.ns, .limit = query.limit};
  if (filter->created.before) order.newest = *filter->created.before - Millis{1};
  order.oldest = filter->created.from;
  order.cursor = query.cursor;
  auto next = co_await visit_newest(
      functions, std::move(order),
      [&](const std::vector<Moment>& moments) -> Async<std::size_t> {
        const auto executions = co_await read_all(functions, moments);
        FF_CO_TRY(executions);
        for (const auto& execution : *executions)
          if (core::may_match(*filter, execution))
            page.executions.push_back(core::info_of(execution));
        co_return page.executions.size();
      });
  FF_CO_TRY(next);
  page.next = std::move(*next);
  co_return page;
}

}  // namespace ff::valkey_store
