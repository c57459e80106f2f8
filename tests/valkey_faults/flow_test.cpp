// Flows on a Valkey server that dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "core/execution/partitions.hpp"
#include "core/flows/flow.hpp"
#include "sdk/client/blocking.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/blocking_store.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"

namespace ff::faults {
namespace {

using test::ValkeyServer;
using ::testing::IsEmpty;

const test::ValkeyServerOptions lasting{.append_only = true,
                                        .arguments = {"--appendfsync", "always"}};

NodeName named(std::string text) { return *NodeName::parse(std::move(text)); }

// A node, `width` after it, and one after those.
std::vector<FlowNode> fan(int width) {
  std::vector<FlowNode> nodes{{.name = named("first"), .kind = kind}};
  FlowNode join{.name = named("join"), .kind = kind};
  for (int i = 0; i < width; ++i) {
    nodes.push_back(
        {.name = named(fmt::format("n{}", i)), .kind = kind, .after = {{.node = named("first")}}});
    join.after.push_back({.node = nodes.back().name});
  }
  nodes.push_back(std::move(join));
  return nodes;
}

std::vector<FlowNodeInfo> nodes_of(Engine& engine, const FlowId& id) {
  return must(run_blocking(engine, ListFlowNodes{.id = id, .limit = 1'000})).nodes;
}

// Claims and completes until it is destroyed, whatever happens, and looks at the inputs of what it claims.
class FlowWorker {
 public:
  explicit FlowWorker(Engine& engine)
      : engine_(engine), thread_([this](std::stop_token stop) {
          while (!stop.stop_requested()) work();
        }) {}

  std::vector<std::string> problems() {
    const std::lock_guard lock(mutex_);
    return problems_;
  }

 private:
  void work() {
    const auto claimed = run_blocking(
        engine_, Claim{.worker = *WorkerId::parse("w"), .max = 20, .lease_ttl = 1s, .wait = 100ms});
    if (!claimed) return std::this_thread::sleep_for(10ms);
    for (const auto& each : claimed->executions) {
      if (const auto page = run_blocking(engine_, GetInputs{.id = each.id}))
        for (const auto& input : page->inputs)
          if (input.state != ExecutionState::completed) note(each, input);
      static_cast<void>(run_blocking(engine_, Complete{.id = each.id, .fence = each.fence}));
    }
  }
  void note(const ClaimedExecution& node, const NodeInput& input) {
    const std::lock_guard lock(mutex_);
    problems_.push_back(fmt::format("{} was claimed while {} was {}", node.id.str(),
                                    input.node.str(), to_string(input.state)));
  }

  Engine& engine_;
  std::mutex mutex_;
  std::vector<std::string> problems_;
  std::jthread thread_;
};

TEST(ValkeyFlowFault, KilledUnderLoadEveryFlowComesToItsEnd) {
  ValkeyServer server(lasting);
  const auto first = open_engine(server.client_options());
  const auto second = open_engine(server.client_options());
  FlowWorker one(*first);
  FlowWorker other(*second);
  std::vector<FlowId> flows;
  const auto submit = [&](int number) {
    SubmitFlow flow{.idempotency_key = *IdempotencyKey::parse(fmt::format("f{}", number)),
                    .nodes = fan(number % 5 == 0 ? 130 : 1 + number % 7)};
    test::await("a flow is submitted", [&] {
      const auto reply = run_blocking(*first, flow);
      if (reply) flows.push_back(reply->flow.id);
      return reply.has_value();
    });
  };
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 5; ++i) submit(5 * round + i);
    server.kill();
    std::this_thread::sleep_for(50ms);
    server.start();
  }
  for (const auto& id : flows) {
    test::await(
        "a flow ends",
        [&] {
          const auto flow = run_blocking(*first, GetFlow{.id = id, .wait = 1s});
          return flow && flow->ended_at;
        },
        30s);
    EXPECT_EQ(must(run_blocking(*first, GetFlow{.id = id})).state, FlowState::completed);
    for (const auto& node : nodes_of(*first, id)) EXPECT_EQ(node.state, ExecutionState::completed);
  }
  EXPECT_THAT(one.problems(), IsEmpty());
  EXPECT_THAT(other.problems(), IsEmpty());
}

// A program dies with the end of a node, before the edges out of it are resolved; so does the server.
TEST(ValkeyFlowFault, TheOutboxAloneResolvesWhatADeadProgramLeft) {
  ValkeyServer server(lasting);
  const FlowId id{*Uuid::parse("01920000-0000-7000-8000-00000000f10f")};
  {
    const auto store = must(valkey_store::open({.client = server.client_options()}));
    const auto partition = core::partition_of(id.uuid(), store->partition_count());
    core::CreateFlow create{.id = id, .partition = partition, .submit = {}, .nodes = {}};
    for (auto& node : fan(450)) {
      const auto node_id = core::node_id(id, partition, node.name);
      create.nodes.push_back({node_id, std::move(node)});
    }
    must(test::run(*store, std::move(create)));
    const auto claimed =
        must(test::run(*store, core::LeaseGrant{.id = core::node_id(id, partition, named("first")),
                                                .worker = *WorkerId::parse("w"),
                                                .lease_id = LeaseId{id.uuid()},
                                                .attempt_id = AttemptId{id.uuid()},
                                                .lease_ttl = 1min}));
    must(test::run(*store, Complete{.id = claimed.id, .fence = claimed.fence}));
  }
  server.kill();
  server.start();
  LocalEngine engine(must(valkey_store::open({.client = server.client_options()})),
                     LocalEngineOptions{.scan = false});
  const auto count = [&](ExecutionState state) {
    return std::ranges::count(nodes_of(engine, id), state, &FlowNodeInfo::state);
  };
  EXPECT_EQ(count(ExecutionState::waiting), 100);
  must(test::run_blocking(engine.executor(), engine.outbox().run_once()));
  EXPECT_EQ(count(ExecutionState::waiting), 450);
  EXPECT_EQ(must(test::run_blocking(engine.executor(), engine.outbox().run_once())).seen, 0u);
  const FlowWorker worker(engine);
  EXPECT_EQ(must(run_blocking(engine, GetFlow{.id = id, .wait = 30s})).state, FlowState::completed);
}

}  // namespace
}  // namespace ff::faults
