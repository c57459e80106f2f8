// Testing a handler and its retry policy in milliseconds: no disk, no server, no real time. The checks
// would be those of your test framework.
#include <flowfabric/flowfabric.hpp>
#include <flowfabric/testing.hpp>

#include <cstdlib>
#include <iostream>

using namespace std::chrono_literals;

namespace {

void check(bool holds, const char* what) {
  std::cout << (holds ? "ok      " : "FAILED  ") << what << '\n';
  if (!holds) std::exit(1);
}

// The code under test: charges a card, and tries again while the bank is busy.
class Charge {
 public:
  explicit Charge(std::vector<std::string> replies) : replies_(std::move(replies)) {}

  ff::Outcome operator()(ff::Task& task) {
    task.throw_if_cancelled();
    const auto reply = replies_.at(calls_++);
    if (reply == "declined")
      throw ff::TaskFailure({.reason = reply, .category = "card", .retryable = false});
    if (reply == "busy") return ff::Outcome::failed({.reason = reply, .category = "transient"});
    return "charged " + task.text();
  }

 private:
  std::vector<std::string> replies_;
  std::size_t calls_ = 0;
};

}  // namespace

int main() {
  // [task]
  ff::testing::TestTask test({.kind = "charge", .payload = "7 EUR"});
  check(to_string(test.run(Charge({"fine"}))) == "completed: charged 7 EUR", "a card is charged");
  check(to_string(test.run(Charge({"declined"}))) == "failed: declined (card), final",
        "a declined card is final");
  test.cancel(ff::CancelReason::lease_lost);
  check(to_string(test.run(Charge({"fine"}))) == "handed back: lease_lost",
        "a lost lease charges nothing");
  // [task]

  // [policy]
  ff::testing::MemoryEngine engine;
  ff::Client client(engine);
  const ff::Policy hourly{.retry =
                              ff::RetryPolicy{.max_retries = 3, .backoff = ff::FixedBackoff{1h}}};
  const auto id =
      ff::must(client.submit({.kind = "charge", .payload = "7 EUR", .policy = hourly})).id;
  const auto attempts = engine.work({{"charge", Charge({"busy", "busy", "fine"})}});
  check(attempts.size() == 3, "a busy bank is asked again");
  check(attempts[2].at - attempts[0].at >= 1h, "hours later, which took milliseconds");
  check(client.result(id, 0ms) == "charged 7 EUR", "and the card is charged in the end");
  // [policy]
  std::cout << "all checks hold\n";
}
