#include "sdk/client/repeat.hpp"

#include "base/clock.hpp"
#include "base/try.hpp"
#include "core/execution/partitions.hpp"

namespace ff {
namespace {

// Or, in a flow, the name of a node. True: it had none before.
bool give_id(Submit& submit) {
  if (submit.id || submit.idempotency_key || submit.node) return false;
  SystemRandom random;
  const auto uuid = make_uuid(SystemClock().now(), random);
  if (submit.flow)
    submit.node = must(NodeName::parse(uuid.str()));
  else
    submit.id = ExecutionId{core::partition_by_uuid, uuid};
  return true;
}

}  // namespace

Async<SubmitReply> submit_repeatedly(Engine& engine, Submit submit, Repeat repeat) {
  const bool minted = give_id(submit);
  auto reply = co_await run_repeatedly(engine, std::move(submit), repeat);
  if (reply && minted) reply->duplicate = false;
  co_return reply;
}

Async<SubmitManyReply> submit_repeatedly(Engine& engine, SubmitMany submits, Repeat repeat) {
  std::vector<bool> minted;
  for (auto& each : submits.executions) minted.push_back(give_id(each));
  auto reply = co_await run_repeatedly(engine, std::move(submits), repeat);
  FF_CO_TRY(reply);
  for (std::size_t i = 0; i < std::min(minted.size(), reply->results.size()); ++i)
    if (reply->results[i] && minted[i]) reply->results[i]->duplicate = false;
  co_return reply;
}

Async<SignalReply> signal_repeatedly(Engine& engine, SendSignal signal, Repeat repeat) {
  const bool minted = !signal.idempotency_key && repeat.limit > Millis{0};
  if (minted) {
    SystemRandom random;
    signal.signal_id = SignalId{make_uuid(SystemClock().now(), random)};
    signal.idempotency_key = must(SignalKey::parse("client:" + signal.signal_id->str()));
    // No try begins after the limit, and none lasts much longer than a minute.
    signal.dedup_window = repeat.limit + std::chrono::minutes{5};
  }
  auto reply = co_await run_repeatedly(engine, std::move(signal), repeat);
  if (reply && minted) reply->duplicate = false;
  co_return reply;
}

}  // namespace ff
