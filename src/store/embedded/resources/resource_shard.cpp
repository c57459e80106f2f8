#include "store/embedded/resources/resource_shard.hpp"

namespace ff::embedded {

Result<void> ResourceShard::restore() {
  if (auto restored = budgets_.restore(parts_.writing.database); !restored) return restored;
  if (auto restored = quotas_.restore(parts_.writing.database); !restored) return restored;
  if (auto restored = lanes_.restore(parts_.writing.database); !restored) return restored;
  if (auto restored = audit_log_.restore(parts_.writing.database); !restored) return restored;
  return key_ring_.restore(parts_.writing.database, parts_.waitpoint_secret);
}

void ResourceShard::process(std::vector<ResourceCall> calls) {
  auto batch = writer_.begin();
  for (auto& any : calls) any.visit([&](auto& call) { process(call, batch); });
  writer_.finish(std::move(batch));
}

template <class Op>
void ResourceShard::process(store::Call<Op>& call, Batch& batch) {
  using Reply = typename Op::Reply;
  // After a fault nothing is applied any more: memory may be ahead of the disk.
  if (const Error* fault = writer_.fault())
    return batch.at_once.add_reply<Reply>(std::move(call.done), std::unexpected(*fault));
  Turn turn(writer_, batch, {.now = now(), .waits = writer_.waits<Op>()});
  auto reply = execute(call.operation, turn);
  auto& when = turn.must_wait() ? batch.after_sync : batch.at_once;
  for (auto& opening : turn.take_openings())
    when.add_opening(parts_.writing.sinks, std::move(opening));
  when.add_reply<Reply>(std::move(call.done), std::move(reply));
}

template <class Op>
Result<typename Op::Reply> ResourceShard::execute(const Op& operation, Turn& turn) {
  if constexpr (requires { budgets_.execute(operation, turn); })
    return budgets_.execute(operation, turn);
  else if constexpr (requires { quotas_.execute(operation, turn); })
    return quotas_.execute(operation, turn);
  else if constexpr (Op::row.owner == Owner::lane)
    return lanes_.execute(operation, turn);
  else if constexpr (Op::row.owner == Owner::audit)
    return audit_log_.execute(operation, turn);
  else if constexpr (store::OfKeyRing<Op>)
    return key_ring_.execute(operation, turn);
  else
    return workers_.execute(operation, turn);
}

TimePoint ResourceShard::now() {
  last_now_ = std::max(last_now_, parts_.clock.now());
  return last_now_;
}

}  // namespace ff::embedded
