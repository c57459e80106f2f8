// Flows on the command line.
#include <boost/json.hpp>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* graph = R"({"kind": "sum", "result": "sum", "nodes": [
  {"name": "one", "kind": "echo", "payload": "1"},
  {"name": "two", "kind": "echo", "payload": "2"},
  {"name": "sum", "kind": "sum", "after": [{"node": "one", "input": "part"}, {"node": "two", "input": "part"}]}]})";

constexpr const char* work_command = R"(
  case $FF_KIND in
    echo) cat ;;
    fail) exit 65 ;;
    sum) cat "$FF_INPUTS_DIR"/part.1 "$FF_INPUTS_DIR"/part.2; echo " $FF_NODE" ;;
  esac)";

class FlowTest : public CliTest {
 protected:
  FlowTest() : server_(serve("server")) {}

  std::unique_ptr<Process> work() {
    auto worker = std::make_unique<Process>(
        ff_command({"work", work_command, "--concurrency", "2"}, {"FF_URL=" + url_}));
    worker->wait_for_output("working on");
    return worker;
  }
  boost::json::value json(Words arguments) {
    arguments.push_back("--json");
    return boost::json::parse(out(std::move(arguments)));
  }
  std::string submit_flow(const char* text = graph) {
    return trimmed(out({"flow", "submit", "-"}, text));
  }

  std::unique_ptr<Process> server_;
};

TEST_F(FlowTest, CommandsReadTheirInputsFromFiles) {
  const auto worker = work();
  EXPECT_EQ(out({"flow", "submit", "-", "--wait"}, graph), "12 sum\n");
}

TEST_F(FlowTest, DryRunSubmitsNothing) {
  EXPECT_EQ(out({"flow", "submit", "-", "--dry-run"}, graph),
            "the graph is valid: 3 nodes, 2 edges\n");
  EXPECT_EQ(out({"flow", "ls", "--json"}), "");
}

TEST_F(FlowTest, WrongGraphIsRefusedWithItsPath) {
  const auto refused =
      ff({"flow", "submit", "-"}, R"({"nodes": [{"name": "a", "kind": "k", "after": ["b"]}]})");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("nodes[0].after[0]"));
  EXPECT_EQ(ff({"flow", "submit", "-"}, "[").exit_code, 2);
  EXPECT_THAT(ff({"flow", "submit", "-"}, "{\n \"nodes\": x}").err,
              HasSubstr("standard input is not valid JSON: syntax error at line 2, column 11"));
  EXPECT_EQ(ff({"flow", "submit", "/nonexistent"}).exit_code, 2);
  EXPECT_EQ(ff({"flow", "get", "01920000-0000-7000-8000-000000000001"}).exit_code, 3);
}

TEST_F(FlowTest, FlowIsShownWithItsNodes) {
  const auto id = submit_flow();
  EXPECT_THAT(out({"flow", "get", id}),
              AllOf(HasSubstr("running"), HasSubstr("one"), HasSubstr("waiting_children")));
  const auto shown = json({"flow", "get", id});
  EXPECT_EQ(shown.at("nodes").as_array().size(), 3u);
  const auto node = std::string(shown.at("nodes").at(0).at("id").as_string());
  EXPECT_THAT(out({"get", node}), AllOf(HasSubstr(id), HasSubstr("node")));
  EXPECT_THAT(out({"flow", "ls", "--state", "running"}), AllOf(HasSubstr(id), HasSubstr("0/3")));
  EXPECT_THAT(out({"flow", "ls", "--state", "failed"}), Not(HasSubstr(id)));
}

TEST_F(FlowTest, GraphIsDrawn) {
  const auto id = submit_flow();
  EXPECT_THAT(out({"flow", "graph", id}), AllOf(HasSubstr("○ one"), HasSubstr("· sum")));
  EXPECT_THAT(out({"flow", "graph", id, "--mermaid"}), HasSubstr("n0 --> n2"));
  EXPECT_THAT(out({"flow", "graph", id, "--dot"}), HasSubstr("n1 -> n2;"));
}

TEST_F(FlowTest, WatchEndsWithTheFlow) {
  const auto id = submit_flow();
  Process watching(ff_command({"flow", "watch", id}, {"FF_URL=" + url_}));
  const auto worker = work();
  EXPECT_THAT(watching.wait_for_output("flow_completed"), HasSubstr("sum"));
  EXPECT_EQ(ff({"flow", "watch", id}).exit_code, 0);
}

TEST_F(FlowTest, FailedFlowIsRedriven) {
  const auto worker = work();
  const auto failed = ff(
      {"flow", "submit", "-", "--wait", "--id", "01920000-0000-7000-8000-000000000007"},
      R"({"nodes": [{"name": "a", "kind": "fail"}, {"name": "b", "kind": "echo", "after": ["a"]}]})");
  EXPECT_EQ(failed.exit_code, 1) << failed.out;
  const std::string id = "01920000-0000-7000-8000-000000000007";
  EXPECT_EQ(ff({"flow", "watch", id}).exit_code, 1);
  EXPECT_EQ(out({"flow", "redrive", id, "--dry-run"}), "a\nb\n");
  EXPECT_EQ(out({"flow", "redrive", id, "--from", "a"}), "a\nb\n");
  EXPECT_EQ(ff({"flow", "redrive", id, "--from", "c"}).exit_code, 3);
}

TEST_F(FlowTest, OperatorsPauseResumeAndCancel) {
  const auto id = submit_flow();
  EXPECT_EQ(json({"flow", "pause", id, "--reason", "freeze"}).at("state"), "paused");
  EXPECT_EQ(json({"flow", "resume", id}).at("state"), "running");
  EXPECT_EQ(json({"flow", "cancel", id, "--wait"}).at("scheduled"), 0);
  EXPECT_EQ(json({"flow", "get", id}).at("state"), "cancelled");
  EXPECT_EQ(ff({"flow", "pause", id}).exit_code, 4);
  EXPECT_EQ(ff({"flow", "cancel", id, "--policy", "some"}).exit_code, 2);
}

}  // namespace
}  // namespace ff::test
