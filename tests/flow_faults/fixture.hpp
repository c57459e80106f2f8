// A flow in each store. Commands go to the store without an engine, so that no outbox carries out their effects, as if the
// program had died; then an engine is started on it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "core/execution/partitions.hpp"
#include "core/flows/flow.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/disk/database.hpp"
#include "store/embedded/disk/flow_records.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/memory_env.hpp"
#include "store/embedded/tools/backup.hpp"
#include "store/valkey/open.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/blocking_store.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/valkey_server.hpp"

namespace ff::flow_faults {

using namespace std::chrono_literals;
namespace keys = embedded::keys;

class FlowOnStore : public ::testing::TestWithParam<const char*> {
 protected:
  FlowOnStore() {
    if (!is_embedded()) server_ = std::make_unique<test::ValkeyServer>();
    open();
  }

  bool is_embedded() const { return GetParam() == std::string_view("embedded"); }
  void open() {
    if (is_embedded())
      store_ =
          must(embedded::open({.directory = temp_.path(), .clock = clock_, .env = env_.get()}));
    else
      store_ = must(valkey_store::open(
          {.client = server_->client_options(), .sweep = false, .simulated_clock = clock_}));
  }
  template <class Op>
  auto run(Op operation) {
    return must(test::run(*store_, std::move(operation)));
  }

  // Another program takes over.
  void start_engine() {
    if (engine_) return;
    store_.reset();
    open();
    engine_ = std::make_unique<LocalEngine>(std::move(store_), LocalEngineOptions{.scan = false});
  }
  void run_outbox() {
    must(test::run_blocking(engine_->executor(), engine_->outbox().run_once()));
  }
  // All scanners once; returns what those of flows repaired.
  std::uint64_t repair() {
    start_engine();
    const auto before = repaired();
    must(test::run_blocking(engine_->executor(), engine_->scanners().run_once()));
    return repaired() - before;
  }
  std::uint64_t repaired() {
    std::uint64_t sum = 0;
    for (const auto& each : engine_->scanners().status())
      if (each.name == "dependency_reconciler" || each.name == "flow_projector") sum += each.changed;
    return sum;
  }
  template <class Op>
  auto ask(Op operation) {
    return must(test::run(*engine_, std::move(operation)));
  }

  static NodeName named(const std::string& text) { return *NodeName::parse(text); }
  static FlowNode node(const std::string& name, std::vector<Dependency> after = {}) {
    return {.name = named(name), .kind = *Kind::parse("k"), .after = std::move(after)};
  }
  PartitionIndex partition() {
    return core::partition_of(flow_.uuid(), core::partition_count_default);
  }
  ExecutionId subject() { return {partition(), flow_.uuid()}; }
  ExecutionId id_of(const std::string& name) {
    return core::node_id(flow_, partition(), named(name));
  }
  void create(std::vector<FlowNode> nodes) {
    core::CreateFlow create{.id = flow_, .partition = partition(), .submit = {}, .nodes = {}};
    for (auto& each : nodes) {
      const auto id = id_of(each.name.str());
      create.nodes.push_back({id, std::move(each)});
    }
    run(std::move(create));
  }
  void create_fan() {
    std::vector<FlowNode> nodes{node("first")};
    for (int i = 0; i < 250; ++i)
      nodes.push_back(node(fmt::format("n{}", i), {{.node = named("first")}}));
    create(std::move(nodes));
  }
  ClaimedExecution lease(const std::string& name) {
    return run(core::LeaseGrant{.id = id_of(name),
                                .worker = *WorkerId::parse("w"),
                                .lease_id = LeaseId{flow_.uuid()},
                                .attempt_id = AttemptId{flow_.uuid()},
                                .lease_ttl = 10s});
  }
  void complete(const std::string& name, std::string result = "") {
    const auto claimed = lease(name);
    run(Complete{.id = claimed.id,
                 .fence = claimed.fence,
                 .result = std::move(result),
                 .content_type = *ContentType::parse("application/json")});
  }
  void fail(const std::string& name) {
    const auto claimed = lease(name);
    run(Fail{.id = claimed.id, .fence = claimed.fence, .reason = "broke", .category = "permanent"});
  }
  std::uint32_t count(ExecutionState state) {
    std::uint32_t found = 0;
    for (const auto& each : ask(ListFlowNodes{.id = flow_, .limit = 1'000}).nodes)
      found += each.state == state ? 1 : 0;
    return found;
  }

  // ---- Damage --------------------------------------------------------------------------------------

  void lose_effects() {
    std::vector<std::string> texts;
    for (const auto& each : run(store::FindEffects{.max = 1'000}).effects)
      texts.push_back(core::to_text(each.effect));
    ASSERT_FALSE(texts.empty());
    change_database([&](embedded::Database&, embedded::Changes& changes) {
      for (const auto& text : texts) changes.erase(keys::effect(partition(), text));
    });
    if (!is_embedded()) server_->call({"DEL", "ff:effects:" + tag()});
  }
  void miscount_completed() {
    change_database([&](embedded::Database& database, embedded::Changes& changes) {
      const auto bytes = must(database.get(keys::flow(subject())));
      auto flow = must(embedded::decode_flow(subject(), *bytes));
      flow.counts.completed -= 1;
      changes.put(keys::flow(subject()), embedded::encode(flow));
    });
    if (!is_embedded())
      server_->call({"HINCRBY", "ff:flow:" + tag() + ":" + flow_.str() + ":core", "completed", "-1"});
  }
  std::string tag() { return fmt::format("{{fp:{}}}", partition()); }
  // The embedded store is closed meanwhile.
  template <class Change>
  void change_database(Change change) {
    if (!is_embedded()) return;
    store_.reset();
    {
      const auto database = must(embedded::Database::open(
          {.directory = embedded::database_directory(temp_.path()), .env = env_.get()}));
      embedded::Changes changes;
      change(*database, changes);
      must(database->write(changes));
    }
    open();
  }

  const FlowId flow_{*Uuid::parse("01920000-0000-7000-8000-00000000f10f")};
  test::TempDirectory temp_;
  embedded::MemoryEnv env_;
  std::unique_ptr<test::ValkeyServer> server_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<LocalEngine> engine_;
};

}  // namespace ff::flow_faults
