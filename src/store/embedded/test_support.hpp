// Shared helpers of the embedded store's tests: calls that wait, and a store that can be reopened.
#pragma once

#include <functional>
#include <future>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "core/execution/partitions.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/tools/backup.hpp"
#include "store/embedded/tools/check.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::embedded {

using namespace std::chrono_literals;

inline Uuid random_uuid() {
  static SystemRandom random;
  return make_uuid(TimePoint{}, random);
}

template <class Op>
std::future<Result<typename Op::Reply>> start(store::Store& store, Op operation) {
  using Reply = Result<typename Op::Reply>;
  auto promise = std::make_shared<std::promise<Reply>>();
  auto future = promise->get_future();
  std::vector<store::AnyCall> calls;
  calls.push_back(store::Call<Op>{
      std::move(operation), [promise](Reply reply) { promise->set_value(std::move(reply)); }});
  store.start(std::move(calls));
  return future;
}

template <class Op>
Result<typename Op::Reply> run(store::Store& store, Op operation) {
  return start(store, std::move(operation)).get();
}

// A submission, reduced to the fields that tests set.
struct Work {
  std::optional<ExecutionId> id = {};
  std::optional<IdempotencyKey> idempotency_key = {};
  LaneId lane = default_lane();
  Kind kind = *Kind::parse("k");
  std::string payload = "p";
  std::optional<TimePoint> delay_until = {};
  Tags tags = {};
  Policy policy = {};
};

inline core::Create create(Work work = {}) {
  constexpr auto partitions = core::partition_count_default;
  const auto uuid = random_uuid();
  const auto partition =
      work.idempotency_key
          ? core::partition_of(default_namespace(), *work.idempotency_key, partitions)
          : core::partition_of(uuid, partitions);
  return {.id = work.id.value_or(ExecutionId{partition, uuid}),
          .submit = {.idempotency_key = std::move(work.idempotency_key),
                     .lane = std::move(work.lane),
                     .kind = std::move(work.kind),
                     .payload = std::move(work.payload),
                     .delay_until = work.delay_until,
                     .tags = std::move(work.tags),
                     .policy = std::move(work.policy)}};
}

inline core::LeaseGrant lease_grant(const ExecutionId& id, Millis ttl = 30s) {
  return {.id = id,
          .worker = *WorkerId::parse("w"),
          .lease_id = LeaseId{random_uuid()},
          .attempt_id = AttemptId{random_uuid()},
          .lease_ttl = ttl};
}

// "completed 2, waiting 1": every lane of the default namespace together.
inline std::string show(const StateCounts& counts) {
  std::map<ExecutionState, std::uint64_t> by_state;
  for (const auto& each : counts.counts) by_state[each.state] += each.count;
  std::string text;
  for (const auto& [state, count] : by_state)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(state), count);
  return text;
}

class StoreTest : public ::testing::Test {
 protected:
  std::filesystem::path directory() const { return temp_.path() / "data"; }
  Options options() const { return {.directory = directory(), .clock = clock_}; }

  store::Store& open() { return open(options()); }
  store::Store& open(Options options) {
    close();
    store_ = must(embedded::open(std::move(options)));
    return *store_;
  }
  void close() { store_.reset(); }
  Errc error_at_open() {
    close();
    const auto opened = embedded::open(options());
    if (opened) return Errc::internal;
    last_message_ = opened.error().message;
    return opened.error().code;
  }

  template <class Op>
  Result<typename Op::Reply> run(Op operation) {
    return embedded::run(*store_, std::move(operation));
  }
  ExecutionId submit(Work work = {}) { return must(run(create(std::move(work)))).id; }
  Fence claim(const ExecutionId& id, Millis ttl = 30s) {
    return must(run(lease_grant(id, ttl))).fence;
  }
  void complete(const ExecutionId& id, std::string result = "r") {
    must(run(Complete{.id = id, .fence = claim(id), .result = std::move(result)}));
  }
  ExecutionId submit_and_complete(Work work = {}) {
    const auto id = submit(std::move(work));
    complete(id);
    return id;
  }
  ExecutionState state_of(const ExecutionId& id) { return must(run(GetExecution{id})).state; }
  std::string counts() { return show(must(run(CountExecutions{}))); }

  // Edits the database of the closed store, to simulate another version or a bad disk.
  void edit(const std::function<void(Database&, Changes&)>& change) {
    close();
    std::filesystem::create_directories(directory());
    const auto database = must(Database::open({.directory = database_directory(directory())}));
    Changes changes;
    change(*database, changes);
    must(database->write(changes));
  }
  void put(std::string_view key, std::string_view value) {
    edit([&](Database&, Changes& changes) { changes.put(key, value); });
  }
  void erase(std::string_view key) {
    edit([&](Database&, Changes& changes) { changes.erase(key); });
  }

  CheckReport check() {
    close();
    return must(embedded::check(directory()));
  }
  std::vector<std::string> problems() { return check().problems; }

  test::TempDirectory temp_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<store::Store> store_;
  std::string last_message_;
};

}  // namespace ff::embedded
