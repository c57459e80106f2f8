// Flows through client and worker, in process and behind a server.
#include <flowfabric/flow.hpp>

#include <boost/json.hpp>

#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

class SdkFlows : public SdkTest {
 protected:
  Client client() { return Client(engine()); }

  FlowInfo run(const Flow& flow, std::map<std::string, Handler> handlers) {
    const auto id = must(client().submit(flow)).flow.id;
    Worker worker(engine(), {.concurrency = 4});
    for (auto& [kind, handler] : handlers) worker.handle(kind, std::move(handler));
    must(worker.start());
    auto ended = must(client().wait(id, wait_max));
    worker.stop();
    return ended;
  }

  std::string states(const FlowId& id) {
    std::string text;
    for (const auto& node : must(client().flow_nodes(id)))
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", node.name.str(), to_string(node.state));
    return text;
  }
};

Outcome upper(Task& task) { return task.payload() + "!"; }

Outcome join(Task& task) {
  std::string text;
  for (const auto& input : task.inputs("part")) text += input.result;
  return text;
}

TEST_P(SdkFlows, ResultsReachTheNodesAfter) {
  Flow flow("join");
  flow.add("a", "upper", "x");
  flow.add("b", "upper", "y");
  flow.add("all", "join").after({"a", "b"}, "part");
  flow.result("all");
  const auto ended = run(flow, {{"upper", upper}, {"join", join}});
  EXPECT_EQ(ended.state, FlowState::completed);
  EXPECT_EQ(must(client().flow_result(ended.id, 0s)).bytes, "x!y!");
  EXPECT_EQ(must(client().inputs(*ended.result)).size(), 2u);
}

TEST_P(SdkFlows, InputIsJsonWithItsContentType) {
  Flow flow;
  flow.add("make", "make");
  flow.add("read", "read").after("make");
  flow.result("read");
  const auto ended = run(
      flow, {{"make", [](Task&) { return Outcome::completed(R"({"n":7})", "application/json"); }},
             {"read", [](Task& task) -> Outcome {
                const auto n = task.input_json("make").at("n").as_int64();
                const auto type = task.input("make").content_type;
                return fmt::format("{} {} {}", n, type->str(), task.node()->str());
              }}});
  EXPECT_EQ(must(client().flow_result(ended.id, 0s)).bytes, "7 application/json read");
}

TEST_P(SdkFlows, NodeForEachEntryOfAList) {
  Flow flow;
  flow.add("list", "make");
  flow.add("pages", "render").map("list", {.max_parallel = 1, .tolerated_failures = 1});
  flow.add("join", "join").after("pages");
  flow.result("join");
  const auto ended =
      run(flow,
          {{"make", [](Task&) { return Outcome::completed(R"(["a","b",3])", "application/json"); }},
           {"render",
            [](Task& task) -> Outcome {
              if (!task.json().is_string())
                return Outcome::failed({.reason = "no text", .retryable = false});
              return std::string(task.json().as_string()) + "!";
            }},
           {"join", [](Task& task) -> Outcome { return task.input("pages").bytes; }}});
  EXPECT_EQ(ended.state, FlowState::completed);
  EXPECT_EQ(must(client().flow_result(ended.id, 0s)).bytes, R"(["a!","b!",null])");
}

TEST_P(SdkFlows, HandlerSpawnsNodesWithItsEnd) {
  Flow flow;
  flow.add("first", "spawn");
  const auto ended = run(flow, {{"spawn",
                                 [](Task& task) {
                                   Flow more;
                                   more.add("left", "upper", task.payload());
                                   more.add("right", "upper").after("left");
                                   return Outcome("done").spawn(more);
                                 }},
                                {"upper", upper}});
  EXPECT_EQ(states(ended.id), "first completed, left completed, right completed");
}

TEST_P(SdkFlows, HandlerRunsChildrenAndGoesOnWithTheirResults) {
  Flow flow;
  flow.add("parent", "parent");
  flow.result("parent");
  const auto ended = run(
      flow,
      {{"parent",
        [](Task& task) -> Outcome {
          Flow children;
          children.add("x", "upper", "1");
          children.add("y", "fail").optional();
          std::string text;
          for (const auto& child : task.run_children(children))
            text += fmt::format("{} {} ", child.result, to_string(child.state));
          return text + std::to_string(task.attempt_index());
        }},
       {"upper", upper},
       {"fail", [](Task&) { return Outcome::failed({.reason = "broken", .retryable = false}); }}});
  EXPECT_EQ(must(client().flow_result(ended.id, 0s)).bytes, "1! completed  failed 0");
}

TEST_P(SdkFlows, WrongNamesFailTheHandlerForGood) {
  Flow flow;
  flow.add("first", "spawn");
  const auto ended = run(flow, {{"spawn", [](Task&) {
                                   Flow more;
                                   more.add("no name", "upper");
                                   return Outcome("done").spawn(more);
                                 }}});
  EXPECT_EQ(states(ended.id), "first failed");
}

TEST_P(SdkFlows, FailureSkipsWhatDependsOnItAndRunsItsHandler) {
  Flow flow;
  flow.add("build", "fail");
  flow.add("deploy", "upper").after("build");
  flow.add("rollback", "upper").on_failure_of("build");
  const auto ended = run(
      flow,
      {{"fail", [](Task&) { return Outcome::failed({.reason = "broken", .retryable = false}); }},
       {"upper", upper}});
  EXPECT_EQ(ended.state, FlowState::failed);
  EXPECT_EQ(states(ended.id), "build failed, deploy skipped, rollback completed");
  EXPECT_EQ(client().flow_result(ended.id, 0s).error().code, Errc::execution_failed);
}

TEST_P(SdkFlows, MissingInputFailsTheNodeForGood) {
  Flow flow;
  flow.add("a", "upper");
  flow.add("b", "read").after("a");
  const auto ended =
      run(flow, {{"upper", upper},
                 {"read", [](Task& task) -> Outcome { return task.input("other").bytes; }}});
  EXPECT_EQ(states(ended.id), "a completed, b failed");
  EXPECT_THAT(must(client().flow_nodes(ended.id)).at(1).reason,
              HasSubstr("there is no input 'other'"));
}

TEST_P(SdkFlows, RepeatedSubmitIsTheSameFlow) {
  Flow flow;
  flow.add("a", "upper");
  flow.idempotency_key("once");
  const auto first = must(client().submit(flow));
  const auto second = must(client().submit(flow));
  EXPECT_FALSE(first.duplicate);
  EXPECT_TRUE(second.duplicate);
  EXPECT_EQ(second.flow.id, first.flow.id);
}

TEST_P(SdkFlows, PausedFlowStartsNothingUntilItIsResumed) {
  Flow flow;
  flow.add("a", "upper");
  const auto id = must(client().submit(flow)).flow.id;
  EXPECT_EQ(must(client().pause_flow(id, "hold")).state, FlowState::paused);
  EXPECT_EQ(must(client().resume_flow(id)).state, FlowState::running);
  EXPECT_EQ(must(client().cancel_flow(id, "enough")).flow.state, FlowState::cancelled);
  EXPECT_EQ(must(client().flow(id)).reason, "enough");
}

TEST_P(SdkFlows, RedriveRunsFailedNodesOnceMore) {
  std::atomic<int> runs = 0;
  const Handler flaky = [&](Task&) -> Outcome {
    if (++runs == 1) return Outcome::failed({.reason = "once", .retryable = false});
    return "done";
  };
  Flow flow;
  flow.add("a", "flaky");
  flow.add("b", "upper").after("a");
  const auto id = run(flow, {{"flaky", flaky}, {"upper", upper}}).id;
  EXPECT_EQ(states(id), "a failed, b skipped");
  EXPECT_EQ(must(client().redrive_flow(id)).count, 2u);
  Worker worker(engine());
  worker.handle("flaky", flaky);
  worker.handle("upper", upper);
  must(worker.start());
  EXPECT_EQ(must(client().wait(id, wait_max)).state, FlowState::completed);
  worker.stop();
}

TEST_P(SdkFlows, LargeGraphIsSubmittedInParts) {
  Flow flow;
  for (int i = 0; i < 2'500; ++i) {
    auto& node = flow.add(fmt::format("n{}", i), "upper");
    if (i > 0) node.after(fmt::format("n{}", (i - 1) / 2));
  }
  const auto reply = must(client().submit(flow));
  EXPECT_EQ(reply.flow.state, FlowState::running);
  EXPECT_EQ(reply.flow.counts.nodes, 2'500u);
  EXPECT_EQ(must(client().flow_nodes(reply.flow.id)).size(), 2'500u);
}

TEST_P(SdkFlows, ANodeCanBeAFlow) {
  Flow region("region");
  region.add("count", "count");
  region.add("double", "double").after("count");
  region.result("double");
  Flow flow;
  flow.add("split", "split");
  flow.add("eu", region).after("split");
  flow.add("sum", "sum").after("eu");
  flow.result("sum");
  const auto ended = run(flow, {{"split", [](Task&) { return Outcome("4"); }},
                                {"count", [](Task& task) { return Outcome(task.input("split").bytes); }},
                                {"double", [](Task& task) { return Outcome(task.input("count").bytes + "2"); }},
                                {"sum", [](Task& task) { return Outcome(task.input("eu").bytes); }}});
  EXPECT_EQ(must(client().flow_result(ended.id, wait_max)).bytes, "42");
}

TEST_P(SdkFlows, AFlowAsANodeIsAGraphAndNothingElse) {
  Flow region;
  region.add("count", "count");
  region.retention(1h);
  Flow flow;
  flow.add("eu", region);
  const auto made = flow.to_operation();
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().message.starts_with("node 'eu': a flow as a node has")) << made.error().message;
}

INSTANTIATE_TEST_SUITE_P(Flows, SdkFlows, everywhere(), home_name);

}  // namespace
}  // namespace ff
