// The form of the suite: a behaviour is stated once, as TEST_P(Conformance, …), in the words below,
// and runs in every home.
#pragma once

#include <flowfabric/engine.hpp>

#include <future>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sdk/client/blocking.hpp"
#include "tests/conformance/home.hpp"
#include "tests/conformance/words.hpp"
#include "tests/support/blocking.hpp"

namespace ff::conformance {

using namespace std::chrono_literals;

// How long a call waits for what the test then makes happen. Without the wake-up it comes back empty, and
// the test fails, after this.
inline constexpr Millis wake_up_max = 10s;

class Conformance : public ::testing::TestWithParam<HomeKind> {
 protected:
  template <class Op>
  test::Started<Op> start(Op operation) {
    return test::start(engine(), std::move(operation));
  }
  template <class Op>
  Result<typename Op::Reply> run(Op operation) {
    return test::run(engine(), std::move(operation));
  }
  template <class Op>
  Errc error_of(Op operation) {
    const auto reply = run(std::move(operation));
    EXPECT_FALSE(reply) << "it succeeded";
    return reply ? Errc::internal : reply.error().code;
  }
  template <class Op>
  std::optional<Errc> error_or_none(Op operation) {
    const auto reply = run(std::move(operation));
    return reply ? std::nullopt : std::optional(reply.error().code);
  }

  // ---- Usual beginnings of tests

  ExecutionId submit(std::string payload = "in") {
    return submit(Submit{.kind = greet, .payload = std::move(payload)});
  }
  ExecutionId submit(Submit operation) { return must(run(std::move(operation))).id; }
  Claim claim_by(const char* name, Millis wait = 0ms) {
    return {.worker = worker(name), .lease_ttl = lease_ttl, .wait = wait};
  }
  // The one execution that is ready, or the best of many.
  ClaimedExecution claim(const char* name = "w1") {
    auto reply = must(run(claim_by(name)));
    EXPECT_EQ(reply.executions.size(), 1u);
    return std::move(reply.executions.at(0));
  }
  // The first execution of a claim that waited.
  ClaimedExecution woken(test::Started<Claim>& waiting) {
    auto reply = must(waiting.get());
    if (reply.executions.empty()) throw std::runtime_error("a waiting claim was not woken");
    return std::move(reply.executions.at(0));
  }
  std::vector<ClaimedExecution> claim_many(std::uint32_t max, const char* name = "w1") {
    auto many = claim_by(name);
    many.max = max;
    return must(run(std::move(many))).executions;
  }
  std::size_t claimable() { return must(run(claim_by("probe"))).executions.size(); }
  ClaimExecution claim_of(const ExecutionId& id, const char* name = "w1") {
    return {.id = id, .worker = worker(name), .lease_ttl = lease_ttl};
  }

  ExecutionInfo info(const ExecutionId& id) { return must(run(GetExecution{id})); }
  ExecutionState state_of(const ExecutionId& id) { return info(id).state; }
  std::string attempts_of(const ExecutionId& id) { return text(must(run(GetAttempts{id}))); }
  std::string leases_of(const ExecutionId& id) { return text(must(run(GetLeaseHistory{id}))); }

  Complete complete(const ClaimedExecution& claimed, std::string result = "out") {
    return {.id = claimed.id, .fence = claimed.fence, .result = std::move(result)};
  }
  Fail failure(const ClaimedExecution& claimed, std::string reason = "broke",
               std::string category = "") {
    return {.id = claimed.id,
            .fence = claimed.fence,
            .reason = std::move(reason),
            .category = std::move(category)};
  }
  Renew renew(const ClaimedExecution& claimed) {
    return {.id = claimed.id, .fence = claimed.fence, .lease_ttl = lease_ttl};
  }
  Delay delay(const ClaimedExecution& claimed, Millis by) {
    return {.id = claimed.id, .fence = claimed.fence, .until = now() + by};
  }

  // Until so many claims sleep until there is work.
  void await_waiting_claims(std::size_t count) { test::await_waiting_claims(engine(), count); }

  // Lets time go by, and the scanners do what comes due.
  void pass(Millis time) {
    advance(time);
    home_->run_scanners();
  }

  Engine& engine() { return home_->engine(); }
  void advance(Millis by) { home_->advance(by); }
  TimePoint now() { return home_->now(); }

  static constexpr Millis lease_ttl = 30s;
  std::unique_ptr<Home> home_ = GetParam().make();
};

}  // namespace ff::conformance
