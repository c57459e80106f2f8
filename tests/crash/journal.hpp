// Journal of a process under load, one line per operation, which outlives the process.
//
//   line := "ready"                         the load begins
//         | "submitted" id key              key: the idempotency key, or "-"
//         | "brief" id                      submitted, and forgotten soon after its end
//         | "flow" flow number              submitted or extended: it has so many nodes
//         | "claimed" id epoch
//         | "completed" id epoch
//         | "retrying" id epoch             failed, and is to be tried again
//         | "failed" id epoch
//         | "cancelled" id
//         | "tagged" id number
//         | "wrote" id next                 frames of its durable stream before `next` were acknowledged or read
//         | "replaying" id                  about to be replayed, acknowledged or not
//         | "replayed" id
//         | "broken" text                   an answer that must not come
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace ff::crash {

// Result that a worker gives for an execution; it names the execution and the lease.
inline std::string result_of(std::string_view id, std::uint64_t epoch) {
  return fmt::format("result of {} under lease {}", id, epoch);
}

// The stream of an execution whose appends wait for the disk.
inline constexpr std::string_view durable_stream = "durable";

// Each line is one write to the pipe, so that the end of the process cannot tear it. Thread-safe.
class Journal {
 public:
  explicit Journal(int pipe) : pipe_(pipe) {}

  template <class... Words>
  void tell(const Words&... words) {
    std::string line;
    ((line += (line.empty() ? "" : " ") + fmt::format("{}", words)), ...);
    write(line + '\n');
  }

 private:
  void write(std::string_view line);

  std::mutex mutex_;
  int pipe_;
};

}  // namespace ff::crash
