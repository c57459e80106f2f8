#include "tests/valkey_faults/load.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sdk/client/blocking.hpp"
#include "tests/support/valkey_server.hpp"

namespace ff::faults {
namespace {

constexpr Millis lease_ttl = 1s;
constexpr int submitters_per_engine = 1;
constexpr int workers_per_engine = 2;

// While it is alive, its thread is in the middle of something.
class Busy {
 public:
  explicit Busy(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Busy() { --count_; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<int>& count_;
};

}  // namespace

std::unique_ptr<LocalEngine> open_engine(valkey::ClientOptions client,
                                         valkey_store::Durability durability) {
  client.request_timeout = 2s;
  client.connect_timeout = 2s;
  auto store = must(valkey_store::open({.client = client, .durability = durability}));
  LocalEngineOptions options;
  options.intervals = {.lease_expiry = 300ms,
                       .delayed_promoter = 300ms,
                       .attempt_timeout = 300ms,
                       .execution_deadline = 300ms,
                       .grant_expiry = 300ms};
  return std::make_unique<LocalEngine>(std::move(store), std::move(options));
}

Load::Load(std::vector<Engine*> engines, std::size_t open_max, Shape shape)
    : engines_(std::move(engines)), open_max_(open_max), shape_(std::move(shape)) {
  int number = 0;
  for (auto* engine : engines_) {
    submitters_ += submitters_per_engine;
    for (int i = 0; i < submitters_per_engine; ++i)
      threads_.emplace_back([this, engine, n = ++number] {
        submit(*engine, n);
        --submitters_;
      });
    for (int i = 0; i < workers_per_engine; ++i)
      threads_.emplace_back([this, engine, n = ++number] { work(*engine, n); });
  }
}

Load::~Load() {
  stopping_ = true;
  threads_.clear();
}

void Load::submit(Engine& engine, int number) {
  for (int i = 0; !stopping_ && submitting_; ++i) {
    const bool enough = ledger_.submitted_count() > ledger_.completed_count() + open_max_;
    if (held_ || enough) {
      std::this_thread::sleep_for(1ms);
      continue;
    }
    const Busy busy(busy_);
    Submit operation{.kind = kind, .payload = fmt::format("payload {}-{}", number, i)};
    // A key makes it safe to repeat; without one, what is repeated may be there twice.
    if (i % 4 == 0)
      operation.payload.resize(5'000, '+');
    else
      operation.idempotency_key = *IdempotencyKey::parse(fmt::format("{}-{}", number, i));
    operation.policy.retry =
        RetryPolicy{.max_retries = 1000, .backoff = FixedBackoff{Millis{i % 3 * 40}}};
    if (i % 10 == 0) operation.policy.retention = 1h;
    shape_(operation);
    auto reply = run_blocking(engine, operation);
    while (!reply && !stopping_) {
      ledger_.refused(reply.error());
      if (!reply.error().retryable()) break;
      std::this_thread::sleep_for(10ms);
      reply = run_blocking(engine, operation);
    }
    if (reply) ledger_.submitted(reply->id, operation.payload);
  }
}

void Load::work(Engine& engine, int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  while (!stopping_) {
    if (held_) {
      std::this_thread::sleep_for(1ms);
      continue;
    }
    const Busy busy(busy_);
    const Claim claim{.worker = *WorkerId::parse(fmt::format("w{}", number)),
                      .max = 1 + static_cast<std::uint32_t>(random() % 3),
                      .lease_ttl = lease_ttl,
                      .wait = 100ms};
    const auto claimed = run_blocking(engine, claim);
    if (!claimed) {
      ledger_.refused(claimed.error());
      std::this_thread::sleep_for(10ms);
      continue;
    }
    for (const auto& execution : claimed->executions) ledger_.claimed(execution, lease_ttl);
    for (const auto& execution : claimed->executions)
      handle(engine, execution, static_cast<unsigned>(random() % 100));
  }
}

void Load::handle(Engine& engine, const ClaimedExecution& execution, unsigned dice) {
  if (dice < 2) return;  // its worker vanishes; another goes on when the lease has run out
  if (dice < 15) {
    const Renew renew{.id = execution.id, .fence = execution.fence, .lease_ttl = lease_ttl};
    if (const auto reply = run_blocking(engine, renew))
      ledger_.renewed(execution, lease_ttl, reply->lease_expires_at);
    else
      ledger_.refused(reply.error());
  }
  if (dice < 25) {
    const Fail failure{.id = execution.id, .fence = execution.fence, .reason = "on purpose"};
    ledger_.given_up(execution);  // it may be so, whatever the answer is
    if (const auto reply = run_blocking(engine, failure); !reply) ledger_.refused(reply.error());
    return;
  }
  const auto result =
      fmt::format("result of {} under {}", execution.id.str(), execution.fence.lease_id.str());
  const Complete complete{.id = execution.id, .fence = execution.fence, .result = result};
  while (!stopping_) {
    const auto reply = run_blocking(engine, complete);
    if (reply) return ledger_.completed(execution, result);
    ledger_.refused(reply.error());
    ledger_.given_up(execution);
    if (!reply.error().retryable()) return;
    std::this_thread::sleep_for(10ms);
  }
}

void Load::await_progress(std::size_t completions, Millis limit) {
  const auto from = ledger_.completed_count();
  test::await(
      fmt::format("{} more executions are completed", completions),
      [&] { return ledger_.completed_count() >= from + completions; }, limit);
}

void Load::hold() {
  held_ = true;
  test::await("nothing is under way", [&] { return busy_ == 0; });
}

void Load::go_on() { held_ = false; }

std::string Load::finish(Millis limit) {
  submitting_ = false;
  const auto end = std::chrono::steady_clock::now() + limit;
  // A worker may not have learned of an end that it brought; the engine knows.
  const auto all_ended = [&] {
    for (const auto& id : ledger_.unfinished()) {
      const auto state = run_blocking(*engines_.back(), GetState{id});
      if (!state && state.error().code == Errc::execution_not_found) continue;  // the ledger judges
      if (!state || !is_terminal(state->state)) return false;
    }
    return true;
  };
  while (std::chrono::steady_clock::now() < end && (submitters_ > 0 || !all_ended()))
    std::this_thread::sleep_for(50ms);
  stopping_ = true;
  threads_.clear();
  return ledger_.problems(*engines_.back());
}

}  // namespace ff::faults
