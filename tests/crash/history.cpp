#include "tests/crash/history.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tests/crash/journal.hpp"
#include "tests/support/blocking.hpp"

namespace ff::crash {
namespace {

std::string_view take_word(std::string_view& rest) {
  const auto space = std::min(rest.find(' '), rest.size());
  const auto word = rest.substr(0, space);
  rest.remove_prefix(std::min(rest.size(), space + 1));
  return word;
}

std::uint64_t number_of(std::string_view word) {
  std::uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

// State of an execution as the engine reports it.
struct Found {
  Result<ExecutionInfo> info;
  std::vector<AttemptInfo> attempts;
  std::string result;
};

// Compares one execution; says what does not hold.
class Comparison {
 public:
  Comparison(const ExecutionId& id, const Told& told, const Found& found,
             std::vector<std::string>& problems)
      : id_(id), told_(told), found_(found), problems_(problems) {}

  void run(bool all_ended) {
    if (!found_.info) return absent();
    const auto& info = *found_.info;
    if (all_ended && !is_terminal(info.state)) problem("has not ended");
    if (told_.replays_tried == 0) ends_as_told();
    ran_as_told();
    if (info.state == ExecutionState::completed) result_is_its_own();
  }

 private:
  void problem(std::string_view text) {
    const auto state = found_.info ? to_string(found_.info->state) : "not there";
    problems_.push_back(fmt::format("execution {} ({}): {}", id_.str(), state, text));
  }

  void absent() {
    if (found_.info.error().code != Errc::execution_not_found)
      return problem(found_.info.error().message);
    if (told_.acknowledged && !told_.brief) problem("was acknowledged and is gone");
  }

  void ends_as_told() {
    const auto state = found_.info->state;
    const auto ends = told_.completed.size() + told_.failed.size() + (told_.cancelled ? 1 : 0);
    if (ends > 1) problem(fmt::format("ended {} times", ends));
    if (!told_.completed.empty() && state != ExecutionState::completed) problem("was completed");
    if (!told_.failed.empty() && state != ExecutionState::failed) problem("was failed");
    if (told_.cancelled && state != ExecutionState::cancelled) problem("was cancelled");
  }

  void ran_as_told() {
    const auto& info = *found_.info;
    const auto count = [&](AttemptOutcome outcome) {
      return static_cast<std::size_t>(
          std::ranges::count(found_.attempts, outcome, &AttemptInfo::outcome));
    };
    const auto successes = count(AttemptOutcome::success);
    if (found_.attempts.size() != info.attempts) problem("an attempt is missing");
    if (successes < told_.completed.size()) problem("a success is missing");
    if (successes > 1 + info.replays) problem("completed more than once");
    if (count(AttemptOutcome::failure) < told_.retrying.size() + told_.failed.size())
      problem("a failure is missing");
    if (!told_.claimed.empty() && std::to_underlying(info.lease_epoch) < *told_.claimed.rbegin())
      problem("a lease is missing");
    if (info.replays < told_.replays || info.replays > told_.replays_tried)
      problem(fmt::format("was replayed {} times, not {} to {}", info.replays, told_.replays,
                          told_.replays_tried));
    if (told_.replays_tried == 0 && info.signals < told_.signals) problem("a signal is missing");
    const auto tag = info.tags.find("app.number");
    if (told_.tag > 0 && (tag == info.tags.end() || number_of(tag->second) < told_.tag))
      problem("a tag is missing");
  }

  void result_is_its_own() {
    const auto expected = result_of(id_.str(), std::to_underlying(found_.info->lease_epoch));
    if (found_.result != expected)
      problem(fmt::format("its result is '{}', not '{}'", found_.result, expected));
  }

  const ExecutionId& id_;
  const Told& told_;
  const Found& found_;
  std::vector<std::string>& problems_;
};

}  // namespace

void History::read(std::string_view lines) {
  newest_.clear();
  newest_flows_.clear();
  // Bytes after the last line break belong to an unfinished line.
  for (auto end = lines.find('\n'); end != std::string_view::npos; end = lines.find('\n')) {
    read_line(lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
}

void History::read_line(std::string_view line) {
  auto rest = line;
  const auto word = take_word(rest);
  if (word == "ready") return;
  if (word == "broken") return contradictions_.emplace_back(rest), void();
  if (word == "flow") {
    const auto flow = FlowId::parse(take_word(rest));
    if (!flow) return contradictions_.push_back("not understood: " + std::string(line));
    ++acknowledged_;
    newest_flows_.insert(*flow);
    flows_[*flow] = number_of(rest);
    return;
  }
  const auto id = ExecutionId::parse(take_word(rest));
  if (!id) return contradictions_.push_back("not understood: " + std::string(line));

  newest_.insert(*id);
  auto& told = executions_[*id];
  if (word == "replaying") return static_cast<void>(++told.replays_tried);
  ++acknowledged_;
  told.acknowledged = true;
  if (word == "submitted") {
    const auto key = std::string(take_word(rest));
    if (key != "-" && keys_.try_emplace(key, *id).first->second != *id)
      contradictions_.push_back(fmt::format("{} was given to a second execution", key));
  } else if (word == "brief") {
    told.brief = true;
  } else if (word == "claimed") {
    if (!told.claimed.insert(number_of(rest)).second)
      contradictions_.push_back(fmt::format("two workers have the same lease: {}", line));
  } else if (word == "completed") {
    told.completed.insert(number_of(rest));
  } else if (word == "retrying") {
    told.retrying.insert(number_of(rest));
  } else if (word == "failed") {
    told.failed.insert(number_of(rest));
  } else if (word == "cancelled") {
    told.cancelled = true;
  } else if (word == "tagged") {
    told.tag = std::max(told.tag, number_of(rest));
  } else if (word == "wrote") {
    told.frames = std::max(told.frames, number_of(rest));
  } else if (word == "signalled") {
    ++told.signals;
  } else if (word == "replayed") {
    ++told.replays;
  } else {
    contradictions_.push_back("not understood: " + std::string(line));
  }
}

std::vector<std::string> History::verify(Engine& engine, Scope scope) const {
  struct Question {
    const ExecutionId& id;
    const Told& told;
    test::Started<GetAttempts> attempts;
    test::Started<GetResult> result;
    Found found;
    test::Started<GetExecution> info;
  };
  constexpr std::size_t at_once = 500;
  auto problems = contradictions_;
  std::vector<Question> questions;
  const auto answer_all = [&] {
    for (auto& question : questions) {
      auto attempts = question.attempts.get();
      auto result = question.result.get();
      if (attempts) question.found.attempts = std::move(attempts->attempts);
      if (result) question.found.result = std::move(result->bytes);
    }
    // Only now: by what is asked last, it may be further on, or forgotten.
    for (auto& question : questions) question.info = test::start(engine, GetExecution{question.id});
    for (auto& question : questions) {
      question.found.info = question.info.get();
      Comparison(question.id, question.told, question.found, problems).run(scope != Scope::newest);
    }
    questions.clear();
  };
  for (const auto& [id, told] : executions_) {
    if (scope != Scope::all_ended && !newest_.contains(id)) continue;
    questions.push_back({.id = id,
                         .told = told,
                         .attempts = test::start(engine, GetAttempts{id}),
                         .result = test::start(engine, GetResult{id}),
                         .found = {},
                         .info = {}});
    if (questions.size() == at_once) answer_all();
  }
  answer_all();
  verify_streams(engine, scope, problems);
  verify_flows(engine, scope, problems);
  return problems;
}

namespace {

// A node of a flow that has ended ran if all before it completed, and only then.
void check_nodes(const std::vector<FlowNodeInfo>& nodes, std::vector<std::string>& problems) {
  std::map<ExecutionId, ExecutionState> states;
  for (const auto& node : nodes) states[node.id] = node.state;
  for (const auto& node : nodes) {
    const bool is_free = std::ranges::all_of(node.after, [&](const DependencyInfo& each) {
      return states[each.id] == ExecutionState::completed;
    });
    const bool ran = node.state == ExecutionState::completed || node.attempts > 0;
    if (!is_terminal(node.state) || (ran && !is_free) ||
        (is_free && node.state == ExecutionState::skipped))
      problems.push_back(
          fmt::format("node {} ({}) is {}, which does not follow from those before it",
                      node.name.str(), node.id.str(), to_string(node.state)));
  }
}

}  // namespace

// Every frame that was acknowledged or read is there, once, and none is missing before another one.
void History::verify_streams(Engine& engine, Scope scope,
                             std::vector<std::string>& problems) const {
  for (const auto& [id, told] : executions_) {
    if (told.frames == 0 || (scope != Scope::all_ended && !newest_.contains(id))) continue;
    const auto problem = [&](std::string_view text) {
      problems.push_back(fmt::format("the stream of {}: {}", id.str(), text));
    };
    std::set<std::string> texts;
    ReadStream read{.id = id,
                    .stream = *StreamName::parse(std::string(durable_stream)),
                    .limit = limits::stream_page_max};
    while (true) {
      const auto page = test::start(engine, read).get();
      if (!page && page.error().code == Errc::execution_not_found && told.brief) break;
      if (!page) {
        problem(page.error().message);
        break;
      }
      for (const auto& frame : page->frames) {
        if (frame.number != read.from++)
          problem(fmt::format("frame {} where {} is due", frame.number, read.from - 1));
        if (frame.kind == FrameKind::data && !texts.insert(frame.bytes).second)
          problem(fmt::format("'{}' is there twice", frame.bytes));
      }
      if (!page->frames.empty()) continue;
      if (read.from < told.frames)
        problem(fmt::format("has {} of {} frames", read.from, told.frames));
      break;
    }
  }
}

void History::verify_flows(Engine& engine, Scope scope, std::vector<std::string>& problems) const {
  constexpr Millis end_max{10'000};
  for (const auto& [id, count] : flows_) {
    if (scope != Scope::all_ended && !newest_flows_.contains(id)) continue;
    const auto wait = scope == Scope::newest ? Millis{0} : end_max;
    const auto flow = test::start(engine, GetFlow{.id = id, .wait = wait}).get();
    const auto problem = [&](std::string_view text) {
      problems.push_back(fmt::format("flow {} ({}): {}", id.str(),
                                     flow ? to_string(flow->state) : "not there", text));
    };
    if (!flow) {
      problem(flow.error().message);
      continue;
    }
    if (flow->counts.nodes < count) problem("a node is missing");
    if (scope == Scope::newest) continue;
    if (!flow->ended_at) problem("has not ended");
    std::vector<FlowNodeInfo> nodes;
    for (std::optional<std::uint32_t> from = 0; from;) {
      auto page = test::start(engine, ListFlowNodes{.id = id, .from = *from}).get();
      if (!page) {
        problem(page.error().message);
        break;
      }
      std::ranges::move(page->nodes, std::back_inserter(nodes));
      from = page->next;
    }
    if (nodes.size() != flow->counts.nodes) problem("not all of its nodes are there");
    check_nodes(nodes, problems);
  }
}

}  // namespace ff::crash
