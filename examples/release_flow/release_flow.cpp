// A release as a flow: build, test on three kinds of machines, deploy after two approvals, verify; if that fails, roll
// back. Version 7 is fine, version 8 is not.
#include <flowfabric/flowfabric.hpp>

#include <future>
#include <iostream>
#include <map>

using namespace std::chrono_literals;

namespace {

using Tokens = std::map<std::string, std::string>;
std::promise<Tokens> mailed;

// [flow]
ff::Flow release(const std::string& version) {
  ff::Flow flow("release");
  flow.add("build", "build", version);
  for (const std::string platform : {"linux", "macos", "windows"})
    flow.add("test-" + platform, "test")
        .after("build", "image")
        .policy({.required_capabilities = ff::must(ff::CapabilitySet::parse({platform}))});
  flow.add("deploy", "deploy")
      .after("build", "image")
      .after({"test-linux", "test-macos", "test-windows"}, "report");
  flow.add("verify", "verify").after("deploy", "deployed");
  flow.add("rollback", "rollback").on_failure_of("verify");
  flow.result("verify").tag("release.version", version);
  return flow;
}
// [flow]

ff::Outcome build(ff::Task& task) { return "image:" + task.text(); }

ff::Outcome test(ff::Task& task) {
  return task.input("image").bytes + " passes " + task.node()->str();
}

// Stands for a mail to each approver, with a link that carries their token.
void send_mails(const ff::IssuedWaitpoint& waitpoint) {
  Tokens tokens;
  for (const auto& each : waitpoint.tokens) tokens[each.approver.value()] = each.token;
  mailed.set_value(std::move(tokens));
}

// [deploy]
ff::Outcome deploy(ff::Task& task) {
  const auto image = task.input("image").bytes;
  std::string reports;
  for (const auto& report : task.inputs("report")) reports += report.result + "\n";
  const auto question = ff::approval("Deploy " + image + "?", reports, {"ada", "bob", "cem"});
  const auto decision = task.ask("deploy", question, send_mails, {.needed = 2, .timeout = 24h});
  if (decision.is("approve")) return image;
  return ff::Outcome::failed({.reason = "not approved", .retryable = false});
}
// [deploy]

ff::Outcome verify(ff::Task& task) {
  const auto image = task.input("deployed").bytes;
  if (image == "image:8")
    return ff::Outcome::failed({.reason = image + " does not answer", .retryable = false});
  return image + " works";
}

ff::Outcome rollback(ff::Task&) { return "the version before is back"; }

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./release_flow-data"));
  ff::Client client(*engine);

  std::vector<std::unique_ptr<ff::Worker>> workers;
  for (const char* platform : {"linux", "macos", "windows"}) {
    auto& worker = *workers.emplace_back(
        std::make_unique<ff::Worker>(*engine, ff::WorkerOptions{.capabilities = {platform}}));
    worker.handle("test", test);
    ff::must(worker.start());
  }
  ff::Worker worker(*engine);
  worker.handle("build", build);
  worker.handle("deploy", deploy);
  worker.handle("verify", verify);
  worker.handle("rollback", rollback);
  ff::must(worker.start());

  for (const char* version : {"7", "8"}) {
    mailed = {};
    const auto id = ff::must(client.submit(release(version))).flow.id;
    const auto tokens = mailed.get_future().get();
    for (const char* approver : {"ada", "cem"})
      ff::must(client.answer(tokens.at(approver), {.signal = "approve"}));
    const auto ended = ff::must(client.wait(id, 30s));
    std::cout << "version " << version << " " << to_string(ended.state) << ":";
    for (const auto& node : ff::must(client.flow_nodes(id)))
      std::cout << " " << node.name.str() << "=" << to_string(node.state);
    std::cout << std::endl;
  }
}
