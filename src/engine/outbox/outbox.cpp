#include "engine/outbox/outbox.hpp"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/try.hpp"

namespace ff {
namespace {

// Takes many calls, one after the other.
template <class Effect>
concept IsWork = store::OneOf<Effect, core::ExpandMap, core::CollectMap, core::RunSubflow, core::EndSubflow>;

}  // namespace

template <class Effect>
Async<ff::Done> Outbox::work(const Effect& effect) {
  if constexpr (store::OneOf<Effect, core::ExpandMap, core::CollectMap>)
    return maps_.run(effect);
  else
    return subflows_.run(effect);
}

void Outbox::carry_out(PartitionIndex partition, std::vector<core::Effect> effects) {
  if (effects.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
  }
  std::vector<store::AnyCall> calls;
  for (auto& effect : effects)
    std::visit(
        [&]<class Command>(const Command& command) {
          if constexpr (IsWork<Command>)
            carry_out_work(partition, command);
          else if constexpr (std::same_as<typename Command::Reply, core::SliceReply>)
            carry_out_slice(partition, command, command, calls);
          else
            calls.push_back(store::Call<Command>{
                command, [this, partition, command](const Result<typename Command::Reply>& reply) {
                  if (reply) note_done(partition, command);
                }});
        },
        effect);
  store_.start(std::move(calls));
}

namespace {

template <class Command>
Command next_slice(Command slice, const core::SliceReply& reply) {
  if constexpr (requires { slice.after; }) slice.after = reply.next;
  return slice;
}

}  // namespace

template <class Command>
void Outbox::carry_out_slice(PartitionIndex partition, const Command& effect, Command slice,
                             std::vector<store::AnyCall>& calls) {
  calls.push_back(store::Call<Command>{
      slice, [this, partition, effect, slice](const Result<core::SliceReply>& reply) {
        if (!reply) return;
        // At once: the same effect may be caused again, and is not to be settled with the first.
        if (!reply->more) return settle({{partition, {effect}}});
        {
          const std::lock_guard lock(mutex_);
          if (closed_) return;
        }
        std::vector<store::AnyCall> next;
        carry_out_slice(partition, effect, next_slice(slice, *reply), next);
        store_.start(std::move(next));
      }});
}

template <class Command>
Async<ff::Done> Outbox::carry_out_all(Command slice) {
  while (true) {
    const auto reply = co_await store_.run(slice);
    FF_CO_TRY(reply);
    if (!reply->more) co_return ff::Done{};
    slice = next_slice(slice, *reply);
  }
}

template <class Effect>
void Outbox::carry_out_work(PartitionIndex partition, Effect effect) {
  const std::lock_guard lock(mutex_);  // none begins behind the back of close()
  if (closed_) return;
  coroutines_.spawn(executor_, [this, partition, effect]() -> asio::awaitable<void> {
    co_await asio::post(executor_, asio::use_awaitable);  // not on this thread, which holds the lock
    const auto done = co_await work(effect);
    if (done) note_done(partition, effect);
  });
}

// Settling does not hurry: an effect that is carried out twice does nothing the second time.
void Outbox::note_done(PartitionIndex partition, core::Effect effect) {
  Done done;
  {
    const std::lock_guard lock(mutex_);
    done_[partition].push_back(std::move(effect));
    const auto now = std::chrono::steady_clock::now();
    const bool due = ++done_count_ >= unsettled_max || now - settled_at_ >= settle_every;
    if (!due || closed_) return;
    settled_at_ = now;
    done_count_ = 0;
    done.swap(done_);
  }
  settle(std::move(done));
}

void Outbox::settle(Done done) {
  std::vector<store::AnyCall> calls;
  for (auto& [partition, effects] : done)
    calls.push_back(store::Call<store::SettleEffects>{
        {.partition = partition, .effects = std::move(effects)}, [](const Result<ff::Done>&) {}});
  if (!calls.empty()) store_.start(std::move(calls));
}

void Outbox::close() {
  Done done;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    done.swap(done_);
  }
  settle(std::move(done));
}

// The spender's id may belong to another execution by now, whose spending is not to be forgotten.
asio::awaitable<std::vector<Result<ff::Done>>> Outbox::forget(
    std::vector<core::ForgetSpending> forgets) {
  std::vector<GetExecution> looks;
  for (const auto& each : forgets) looks.push_back({each.execution});
  const auto spenders = co_await store_.run_all(std::move(looks));
  std::vector<Result<ff::Done>> results(forgets.size(), ff::Done{});
  std::vector<core::ForgetSpending> gone;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < forgets.size(); ++i) {
    if (spenders[i]) continue;
    if (spenders[i].error().code != Errc::execution_not_found) {
      results[i] = std::unexpected(spenders[i].error());
      continue;
    }
    gone.push_back(forgets[i]);
    positions.push_back(i);
  }
  auto forgotten = co_await store_.run_all(std::move(gone));
  for (std::size_t i = 0; i < positions.size(); ++i)
    results[positions[i]] = std::move(forgotten[i]);
  co_return results;
}

Async<Scan> Outbox::run_once() {
  store::FindEffects query{.max = sweep_max};
  const auto page = co_await store_.run(query);
  FF_CO_TRY(page);
  std::vector<core::ReleaseToken> releases;
  std::vector<core::ForgetSpending> forgets;
  std::vector<Result<ff::Done>> advanced;
  for (const auto& each : page->effects) {
    if (const auto* release = std::get_if<core::ReleaseToken>(&each.effect))
      releases.push_back(*release);
    else if (const auto* spending = std::get_if<core::ForgetSpending>(&each.effect))
      forgets.push_back(*spending);
    else
      advanced.push_back(co_await std::visit(
          [this]<class Effect>(const Effect& effect) -> Async<ff::Done> {
            if constexpr (IsWork<Effect>)
              return work(effect);
            else if constexpr (store::OneOf<Effect, core::ReleaseToken, core::ForgetSpending>)
              std::unreachable();
            else
              return carry_out_all(effect);
          },
          each.effect));
  }
  const auto released = co_await store_.run_all(std::move(releases));
  const auto forgotten = co_await forget(std::move(forgets));

  Scan scan{.seen = page->effects.size()};
  std::optional<Error> failure;
  Done done;
  std::size_t next_release = 0;
  std::size_t next_forget = 0;
  std::size_t next_advanced = 0;
  for (const auto& [partition, effect] : page->effects) {
    const bool releases_token = std::holds_alternative<core::ReleaseToken>(effect);
    const bool forgets_spending = std::holds_alternative<core::ForgetSpending>(effect);
    const auto& reply = releases_token     ? released[next_release++]
                        : forgets_spending ? forgotten[next_forget++]
                                           : advanced[next_advanced++];
    if (reply)
      done[partition].push_back(effect);
    else
      failure = reply.error();
    scan.changed += reply ? 1 : 0;
  }
  std::vector<store::SettleEffects> settled;
  for (auto& [partition, effects] : done)
    settled.push_back({.partition = partition, .effects = std::move(effects)});
  const auto replies = co_await store_.run_all(std::move(settled));
  for (const auto& reply : replies) FF_CO_TRY(reply);
  // The node of a quota or budget may be down; its effects stay where they are.
  if (failure) log::warn("outbox: some effects have to wait: {}", failure->message);
  scan.more = page->more && scan.changed > 0;
  co_return scan;
}

}  // namespace ff
