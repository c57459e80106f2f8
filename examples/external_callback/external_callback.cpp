// A payment provider that calls back: the handler hands out a token, and whoever has it can answer, once. A token
// that was tampered with answers nothing.
#include <flowfabric/flowfabric.hpp>

#include <future>
#include <iostream>

#include <boost/json.hpp>

using namespace std::chrono_literals;

namespace {

std::promise<std::string> token_at_provider;

// Stands for the request to the provider, which keeps the token for its callback.
void start_payment(const ff::IssuedWaitpoint& waitpoint) {
  token_at_provider.set_value(waitpoint.tokens.at(0).token);
}

// [pay]
ff::Outcome pay(ff::Task& task) {
  const auto payment = task.waitpoint("payment", start_payment);
  const auto paid = task.wait_for("paid", {.timeout = 1h,
                                           .on_timeout = ff::TimeoutAction::auto_resume,
                                           .reason = ff::SuspendReason::waiting_for_callback,
                                           .waitpoint = payment});
  if (paid.timed_out()) return "the provider never called back";
  return "paid " + std::to_string(paid.json().at("euros").as_int64()) + " EUR";
}
// [pay]

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./external_callback-data"));
  ff::Worker worker(*engine);
  worker.handle("pay", pay);
  ff::must(worker.start());

  ff::Client client(*engine);
  const auto id = ff::must(client.submit({.kind = "pay"})).id;
  const auto token = token_at_provider.get_future().get();
  const ff::NewAnswer answer{
      .signal = "paid", .payload = R"({"euros": 7})", .content_type = "application/json"};

  auto tampered = token;
  tampered.back() = tampered.back() == 'A' ? 'B' : 'A';
  std::cout << "a tampered token: " << client.answer(tampered, answer).error().name() << '\n';
  ff::must(client.answer(token, answer));
  std::cout << ff::must(client.result(id, 30s)) << '\n';
}
