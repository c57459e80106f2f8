// A deployment that two of three people must approve. The handler reads as straight code; while it waits for
// people, it holds no worker, and a restart of the program loses nothing.
#include <flowfabric/flowfabric.hpp>

#include <future>
#include <iostream>
#include <map>

using namespace std::chrono_literals;

namespace {

using Tokens = std::map<std::string, std::string>;
std::promise<Tokens> mailed;

// Stands for a mail to each approver, with a link that carries their token.
void send_mails(const ff::IssuedWaitpoint& waitpoint) {
  Tokens tokens;
  for (const auto& each : waitpoint.tokens) tokens[each.approver.value()] = each.token;
  std::cout << tokens.size() << " mails are sent" << std::endl;
  mailed.set_value(std::move(tokens));
}

std::string build(const std::string& version) {
  std::cout << "version " << version << " is built" << std::endl;
  return "image:" + version;
}

// [deploy]
ff::Outcome deploy(ff::Task& task) {
  // The handler runs again from the top after the wait; a step does not.
  const auto image = task.once("build", [&] { return build(task.text()); });

  const auto question =
      ff::approval("Deploy " + image + "?", "To production, at once.", {"ada", "bob", "cem"});
  const auto decision = task.ask("deploy", question, send_mails, {.needed = 2, .timeout = 24h});

  std::string voters;
  for (const auto& answer : decision.answers)
    voters += " " + answer.source.identity + "=" + answer.name.str();
  if (!decision.is("approve")) return image + " is not deployed:" + voters;
  return image + " is deployed:" + voters;
}
// [deploy]

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./deploy_approval-data"));
  ff::Worker worker(*engine);
  worker.handle("deploy", deploy);
  ff::must(worker.start());

  ff::Client client(*engine);
  const auto id = ff::must(client.submit({.kind = "deploy", .payload = "7"})).id;
  const auto tokens = mailed.get_future().get();

  // The people, who have nothing but their tokens.
  const auto approve = [&](const char* approver) {
    ff::must(client.answer(tokens.at(approver), {.signal = "approve", .comment = "go"}));
  };
  approve("cem");
  const auto twice = client.answer(tokens.at("cem"), {.signal = "reject"});
  std::cout << "cem changes their mind: " << twice.error().name() << '\n';
  approve("ada");
  std::cout << ff::must(client.result(id, 30s)) << '\n';
  const auto late = client.answer(tokens.at("bob"), {.signal = "reject"});
  std::cout << "bob is late: " << late.error().name() << '\n';
}
