// One run of a handler: what it has read of its execution, and what it waits for.
#pragma once

#include <flowfabric/task.hpp>

#include <map>
#include <mutex>
#include <set>

namespace ff {

// Thrown by a wait that has no answer yet: ends the handler. Not a std::exception, so that handlers which catch
// those do not catch this.
struct SuspendHandler {
  SuspendOptions options;
};

// Likewise, by Task::run_children().
struct RunChildren {
  std::vector<FlowNode> children;
};

class Task::Run {
 public:
  std::mutex mutex;  // of the next three
  std::optional<std::vector<Signal>> signals;
  std::optional<std::set<std::string>> steps;  // the names of those that are kept
  std::map<StreamName, std::shared_ptr<StreamWriter::Buffer>> streams;

  // Sends what was written to streams. Throws if that fails.
  void flush_streams();

  struct Reads {
    std::size_t signals = 0;  // that earlier waits have returned
    std::uint32_t waits = 0;
  };
  std::map<std::string, Reads> reads;        // by the name of the wait
  std::set<WaitpointId> opened;              // in this run
  std::optional<SuspendOptions> suspension;  // that a wait has ended the handler with
};

}  // namespace ff
