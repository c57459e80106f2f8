// Work at times of a calendar: a schedule starts an execution every second. Each time starts one, also after a crash.
#include <flowfabric/flowfabric.hpp>

#include <atomic>
#include <iostream>

int main() {
  using namespace std::chrono_literals;

  const auto engine = ff::must(ff::open("embedded:./heartbeat-data"));
  ff::Client client(*engine);

  std::atomic<int> beats = 0;
  ff::Worker worker(*engine);
  worker.handle("beat", [&](ff::Task& task) {
    ++beats;
    beats.notify_all();
    return task.payload();
  });
  ff::must(worker.start());

  // [put]
  ff::PutSchedule put{.name = ff::must(ff::ScheduleName::parse("heartbeat"))};
  put.spec.cron = "@every 1s";
  put.spec.execution = ff::Submit{.kind = ff::must(ff::Kind::parse("beat"))};
  put.spec.overlap = ff::Overlap::queue;
  ff::must(client.put_schedule(put));
  // [put]

  for (int seen = beats; seen < 3; seen = beats) beats.wait(seen);
  std::cout << "three beats\n";

  // [preview]
  const auto times = ff::must(client.preview_schedule({.cron = "30 2 * * *",
                                                       .zone = "Europe/Berlin",
                                                       .after = ff::TimePoint{1774652400s},
                                                       .count = 3}));
  std::cout << "2:30 in Berlin, from 28 March 2026 on, in hours of UTC:";
  for (const auto& time : times)
    std::cout << ' '
              << std::chrono::duration<double, std::ratio<3600>>(
                     time - std::chrono::floor<std::chrono::days>(time))
                     .count();
  std::cout << '\n';
  // [preview]

  ff::must(client.delete_schedule({.name = put.name}));
  std::cout << (client.schedule({.name = put.name}) ? "still there" : "deleted") << '\n';
}
