// Reading one execution of a store on Valkey.
#include "base/try.hpp"
#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/record.hpp"
#include "store/valkey/valkey_store.hpp"

namespace ff::valkey {
namespace {

// Answer of ff_get: the record, and the bytes beside it if some were asked for.
struct Found {
  Record record;
  std::optional<std::string> bytes = {};
};

Result<Found> read_found(const ExecutionId& id, Result<Reply> reply) {
  constexpr std::size_t parts_of_record = 4;
  auto list = list_of(std::move(reply));
  FF_TRY(list);
  if (is_refusal(*list)) return core::refusals::not_found(id);
  auto parts = without(std::move(*list), 2);
  std::optional<std::string> bytes;
  if (parts.size() > parts_of_record) {
    if (auto* text = parts.back().as_text()) bytes = std::move(*text);
    parts.pop_back();
  }
  auto record = read_record(id, std::move(parts));
  FF_TRY(record);
  return Found{.record = std::move(*record), .bytes = std::move(bytes)};
}

}  // namespace

template <class Query, class Tell>
void ValkeyStore::read(store::Call<Query>& call, std::vector<std::string> arguments, Tell tell) {
  const auto id = call.operation.id;
  call_function(read_request(id, std::move(arguments)),
                [id, tell, call = std::move(call)](Result<Reply> reply) mutable {
                  auto found = read_found(id, std::move(reply));
                  if (!found) return call.done(std::unexpected(std::move(found.error())));
                  call.done(tell(std::move(*found)));
                });
}

void ValkeyStore::route(store::Call<GetExecution>& call) {
  read(call, {"newest"}, [](Found found) { return core::info_of(found.record.execution); });
}

void ValkeyStore::route(store::Call<core::CheckLease>& call) {
  const auto& [id, fence] = call.operation;
  auto command =
      with_keys({"FCALL_RO", "ff_check_lease"}, keys::tag(id.partition()), keys::core(id));
  for (auto& argument :
       {time_argument(), fence.lease_id.str(),
        std::to_string(std::to_underlying(fence.lease_epoch)), fence.attempt_id.str()})
    command.push_back(argument);
  Request request{.command = std::move(command), .route = slots_[id.partition()]};
  call_function(std::move(request), [call = std::move(call)](Result<Reply> reply) mutable {
    const auto list = list_of(std::move(reply));
    if (!list) return call.done(std::unexpected(list.error()));
    if (is_refusal(*list)) return call.done(refused(context_of(call.operation), *list));
    call.done(ff::Done{});
  });
}

void ValkeyStore::route(store::Call<core::HoldsToken>& call) {
  const auto& [id, token] = call.operation;
  Request request{.command = {"HGET", keys::core(id), "admission"},
                  .route = slots_[id.partition()]};
  client_->send(std::move(request), [call = std::move(call)](Result<Reply> reply) mutable {
    if (!reply) return call.done(std::unexpected(std::move(reply.error())));
    if (const auto* error = reply->as_error()) return call.done(server_error(*error));
    call.done(text_in(*reply) == call.operation.token.str());
  });
}

void ValkeyStore::route(store::Call<GetPayload>& call) {
  read(call, {"none", "payload"}, [](Found found) {
    return Bytes{.bytes = std::move(found.bytes).value_or(""),
                 .content_type = std::move(found.record.execution.content_type)};
  });
}

void ValkeyStore::route(store::Call<store::ReadResult>& call) {
  read(call, {"newest", "result"}, [](Found found) {
    return core::read_result(found.record.execution, std::move(found.bytes));
  });
}

void ValkeyStore::route(store::Call<GetAttempts>& call) {
  read(call, {"all"}, [](const Found& found) {
    const auto& [execution, attempts] = found.record;
    const bool running = std::holds_alternative<core::Active>(execution.state);
    Attempts told;
    for (const auto& attempt : attempts)
      told.attempts.push_back(core::info_of(attempt, running && &attempt == &attempts.back()));
    return told;
  });
}

void ValkeyStore::route(store::Call<GetLeaseHistory>& call) {
  read(call, {"all"}, [](const Found& found) {
    return core::lease_history(found.record.execution, found.record.attempts);
  });
}

}  // namespace ff::valkey
