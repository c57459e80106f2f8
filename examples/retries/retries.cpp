// Failures of a job: a failed attempt that is retried, a final failure, and a job that is cancelled while it
// runs.
#include <flowfabric/flowfabric.hpp>

#include <condition_variable>
#include <future>
#include <iostream>
#include <latch>

using namespace std::chrono_literals;

namespace {

// [fetch]
// Whether a failed attempt is made again is for the policy of the execution to say.
ff::Outcome fetch(ff::Task& task) {
  if (task.attempt_index() < 2)
    return ff::Outcome::failed({.reason = "the server is busy", .category = "transient"});
  return "fetched " + task.payload();
}
// [fetch]

// [charge]
// Another attempt would not help, so the handler says that this failure is final.
ff::Outcome charge(ff::Task&) {
  throw ff::TaskFailure({.reason = "declined by the bank", .category = "card", .retryable = false});
}
// [charge]

// [export]
// Tells how far it is, and works on until it is told to stop.
class Export {
 public:
  ff::Outcome operator()(ff::Task& task) {
    task.progress(50, "half of the rows");
    half_.count_down();
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any told;
    told.wait(lock, task.cancellation(), [] { return false; });
    why_.set_value(task.cancelled().value());
    return {};  // dropped: the execution is cancelled already
  }

  void wait_for_half() { half_.wait(); }
  ff::CancelReason wait_for_stop() { return why_.get_future().get(); }

 private:
  std::latch half_{1};
  std::promise<ff::CancelReason> why_;
};
// [export]

void print(ff::Client& client, const ff::ExecutionInfo& end) {
  std::cout << end.kind.str() << ": " << to_string(end.state) << " after " << end.attempts
            << (end.attempts == 1 ? " attempt\n" : " attempts\n");
  for (const auto& attempt : ff::must(client.attempts(end.id)))
    std::cout << "  attempt " << attempt.index << ": "
              << attempt.failure_reason.value_or(std::string(to_string(attempt.outcome))) << '\n';
}

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./retries-data"));
  Export exporting;
  ff::Worker worker(*engine, {.concurrency = 2});
  worker.handle("fetch", fetch);
  worker.handle("charge", charge);
  worker.handle("export", std::ref(exporting));
  ff::must(worker.start());

  ff::Client client(*engine);
  // [policy]
  // 10 ms before the first retry, 20 before the second, and so on.
  const ff::Policy patient{
      .retry = ff::RetryPolicy{.max_retries = 5,
                               .backoff = ff::ExponentialBackoff{.initial_delay = 10ms}}};
  for (const char* kind : {"fetch", "charge"}) {
    const auto submitted = ff::must(client.submit({.kind = kind, .policy = patient}));
    print(client, ff::must(client.wait(submitted.id, 30s)));
  }
  // [policy]

  // [cancel]
  const auto id = ff::must(client.submit({.kind = "export"})).id;
  exporting.wait_for_half();
  ff::must(client.cancel(id, "nobody needs it any more"));
  const auto why = exporting.wait_for_stop();
  // [cancel]
  const auto end = ff::must(client.get(id));
  print(client, end);
  std::cout << "  its handler heard: " << to_string(why) << " at "
            << end.progress.value().percent.value() << " %\n";
}
