// The form of the suite: a behaviour is stated once, as TEST_P(Conformance, …), in the words below,
// and runs in every home.
#pragma once

#include <flowfabric/engine.hpp>

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sdk/blocking.hpp"
#include "tests/conformance/home.hpp"

namespace ff::conformance {

using namespace std::chrono_literals;

class Conformance : public ::testing::TestWithParam<HomeKind> {
 protected:
  template <class Op>
  std::future<Result<typename Op::Reply>> start(Op operation) {
    return ff::start(engine(), std::move(operation));
  }
  template <class Op>
  Result<typename Op::Reply> run(Op operation) {
    return start(std::move(operation)).get();
  }
  template <class Op>
  Errc error_of(Op operation) {
    const auto reply = run(std::move(operation));
    EXPECT_FALSE(reply) << "it succeeded";
    return reply ? Errc::internal : reply.error().code;
  }

  // ---- What most tests begin with

  ExecutionId submit(std::string payload = "in") {
    return must(run(Submit{.kind = *Kind::parse("greet"), .payload = std::move(payload)})).id;
  }
  Claim claim_by(const char* worker, Millis wait = 0ms) {
    return {.worker = *WorkerId::parse(worker), .lease_ttl = lease_ttl, .wait = wait};
  }
  // The one execution that is ready.
  ClaimedExecution claim(const char* worker = "w1") {
    auto reply = must(run(claim_by(worker)));
    EXPECT_EQ(reply.executions.size(), 1u);
    return std::move(reply.executions.at(0));
  }
  std::size_t claimable() { return must(run(claim_by("probe"))).executions.size(); }
  ExecutionState state_of(const ExecutionId& id) { return must(run(GetExecution{id})).state; }
  Complete complete(const ClaimedExecution& claimed, std::string result = "out") {
    return {.id = claimed.id, .fence = claimed.fence, .result = std::move(result)};
  }

  Engine& engine() { return home_->engine(); }
  void advance(Millis by) { home_->advance(by); }
  TimePoint now() { return home_->now(); }

  static constexpr Millis lease_ttl = 30s;
  std::unique_ptr<Home> home_ = GetParam().make();
};

}  // namespace ff::conformance
