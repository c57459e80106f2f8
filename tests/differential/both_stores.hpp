// A store of each kind, given the same operations: they must answer the same.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "http/wire/wire.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/memory_env.hpp"
#include "store/valkey/open.hpp"
#include "tests/support/blocking_store.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/valkey_server.hpp"

namespace ff::differential {

// `Same` compares replies.
template <class Same>
class BothStores {
 public:
  BothStores() {
    server_.flushall();
    embedded_ = must(embedded::open({.directory = temp_.path(),
                                 .clock = clock_,
                                 .shards = 1,
                                 .durability = store::Durability::relaxed,
                                 .env = env_.get()}));
    valkey_ = must(valkey_store::open(
        {.client = server_.client_options(), .sweep = false, .simulated_clock = clock_}));
  }

  template <class Op>
  Result<typename Op::Reply> run(std::string_view what, const Op& operation) {
    auto one = test::run(*embedded_, operation);
    const auto other = test::run(*valkey_, operation);
    const auto error_of = [](const auto& result) {
      return result ? std::string("none") : std::string(result.error().message);
    };
    EXPECT_EQ(error_of(one), error_of(other)) << what;
    if (one && other) {
      EXPECT_TRUE(Same{}(*one, *other)) << what << shown(*one) << shown(*other);
    }
    return one;
  }

  PartitionIndex partition_count() const { return embedded_->partition_count(); }
  TimePoint now() const { return clock_->now(); }
  void advance(Millis by) { clock_->advance(by); }

 private:
  // As JSON, if it has that form.
  template <class Reply>
  static std::string shown(const Reply& reply) {
    if constexpr (requires { http::to_fields(reply); })
      return '\n' + boost::json::serialize(http::to_fields(reply));
    else
      return {};
  }

  test::TempDirectory temp_;
  embedded::MemoryEnv env_;
  test::ValkeyServer server_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<store::Store> embedded_;
  std::unique_ptr<store::Store> valkey_;
};

}  // namespace ff::differential
