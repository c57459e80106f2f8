// Compares the changes acknowledged before a process was killed with an engine's state afterwards.
#pragma once

#include <flowfabric/engine.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ff::crash {

// Of one execution.
struct Told {
  bool acknowledged = false;        // something about it was, so it must be there
  bool brief = false;               // may have been forgotten
  std::set<std::uint64_t> claimed;  // lease epochs
  std::set<std::uint64_t> completed;
  std::set<std::uint64_t> retrying;
  std::set<std::uint64_t> failed;
  bool cancelled = false;
  std::uint32_t replays_tried = 0;
  std::uint64_t signals = 0;
  std::uint64_t frames = 0;  // of its durable stream, that are to be there
  std::uint32_t replays = 0;
  std::uint64_t tag = 0;
};

// Of one data directory, over the lives of several processes.
class History {
 public:
  // The lines of one more process (journal.hpp).
  void read(std::string_view lines);

  enum class Scope : std::uint8_t {
    newest,        // what the last process told about
    newest_ended,  // the same, and it must have ended
    all_ended,     // what any process told about
  };
  // Violations, as sentences.
  std::vector<std::string> verify(Engine& engine, Scope scope) const;

  // How many operations were acknowledged.
  std::size_t acknowledged() const { return acknowledged_; }

 private:
  void read_line(std::string_view line);
  void verify_streams(Engine& engine, Scope scope, std::vector<std::string>& problems) const;
  void verify_flows(Engine& engine, Scope scope, std::vector<std::string>& problems) const;
  using Executions = std::map<ExecutionId, Told>;

  Executions executions_;
  std::map<FlowId, std::uint64_t> flows_;  // with the number of their nodes
  std::set<FlowId> newest_flows_;
  std::set<ExecutionId> newest_;
  std::map<std::string, ExecutionId> keys_;
  std::vector<std::string> contradictions_;  // in what was told
  std::size_t acknowledged_ = 0;
};

}  // namespace ff::crash
