// Random filters over random executions, compared with a naive filter on what is shown of each execution.
#include <functional>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "core/filters/filter.hpp"
#include "tests/support/seeds.hpp"

namespace ff::property {
namespace {

using namespace std::chrono_literals;

const TimePoint now{1'000'000s};

using Matches = std::function<bool(const ExecutionInfo&)>;
struct RandomTerm {
  std::string text;
  Matches matches;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  unsigned below(unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(engine_);
  }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + below(static_cast<unsigned>(choices.size())));
  }

 private:
  std::mt19937_64 engine_;
};

const std::array names{"a", "b", "two words", "q\"uote", "st*r"};

std::string any_name(Random& random) { return names[random.below(names.size())]; }

std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return quoted + '"';
}

FlowId any_flow(Random& random) {
  Uuid::Bytes bytes{};
  bytes[15] = static_cast<std::uint8_t>(random.below(2));
  return FlowId{Uuid{bytes}};
}
WorkerId any_worker(Random& random) { return *WorkerId::parse(random.one_of({"w1", "w2"})); }
TimePoint any_time(Random& random) { return now - Millis{random.below(5'000)}; }

core::State any_state(Random& random) {
  switch (random.below(6)) {
    case 0: return core::Waiting{};
    case 1: return core::Delayed{now + 1s};
    case 2: {
      core::Active active;
      active.lease.worker = any_worker(random);
      active.lease.expires_at = now + 1s;
      return active;
    }
    case 3: return core::Ended{any_time(random), core::Completed{}};
    case 4: return core::Ended{any_time(random), core::Failed{"broke", "x"}};
    default: return core::Ended{any_time(random), core::Cancelled{"why"}};
  }
}

core::Execution any_execution(Random& random) {
  core::Execution execution;
  execution.lane = *LaneId::parse(any_name(random));
  execution.kind = *Kind::parse(any_name(random));
  execution.priority = static_cast<std::int32_t>(random.below(4)) * 3000;
  for (const char* key : {"app.x", "app.y"})
    if (random.below(2) == 0) execution.tags[key] = any_name(random);
  execution.created_at = any_time(random);
  if (random.below(2) == 0) execution.flow = core::Membership{.flow = any_flow(random)};
  execution.state = any_state(random);
  return execution;
}

// A bound of a time, as text and as a condition.
RandomTerm time_term(Random& random, std::string key,
                     std::function<std::optional<TimePoint>(const ExecutionInfo&)> time_of) {
  const Millis ago{random.below(5'000)};
  const auto at = now - ago;
  const auto sign = random.one_of<std::string>({">", ">=", "<", "<="});
  const auto text = fmt::format("{}:{}-{}ms", key, sign, ago.count());
  return {text, [=](const ExecutionInfo& info) {
            const auto time = time_of(info);
            if (!time) return false;
            if (sign == ">") return *time > at;
            if (sign == ">=") return *time >= at;
            if (sign == "<") return *time < at;
            return *time <= at;
          }};
}

RandomTerm priority_term(Random& random) {
  const auto number = static_cast<std::int32_t>(random.below(4)) * 3000;
  const auto sign = random.one_of<std::string>({"", ">", ">=", "<", "<="});
  return {fmt::format("priority:{}{}", sign, number), [=](const ExecutionInfo& info) {
            if (sign == ">") return info.priority > number;
            if (sign == ">=") return info.priority >= number;
            if (sign == "<") return info.priority < number;
            if (sign == "<=") return info.priority <= number;
            return info.priority == number;
          }};
}

RandomTerm any_term(Random& random) {
  switch (random.below(9)) {
    case 0: {
      std::vector<ExecutionState> states;
      std::vector<std::string_view> texts;
      for (const auto state :
           {ExecutionState::waiting, ExecutionState::delayed, ExecutionState::active,
            ExecutionState::failed, ExecutionState::cancelled})
        if (random.below(2) == 0) {
          states.push_back(state);
          texts.push_back(to_string(state));
        }
      if (states.empty()) return any_term(random);
      return {fmt::format("state:{}", fmt::join(texts, ",")), [states](const ExecutionInfo& info) {
                return std::ranges::find(states, info.state) != states.end();
              }};
    }
    case 1: {
      const auto name = any_name(random);
      return {"lane:" + in_quotes(name),
              [=](const ExecutionInfo& i) { return i.lane.str() == name; }};
    }
    case 2: {
      const auto name = any_name(random);
      return {"kind:" + in_quotes(name),
              [=](const ExecutionInfo& i) { return i.kind.str() == name; }};
    }
    case 3: {
      const auto key = random.one_of<std::string>({"app.x", "app.y"});
      const auto value = any_name(random);
      return {"tag:" + key + "=" + in_quotes(value), [=](const ExecutionInfo& info) {
                return info.tags.contains(key) && info.tags.at(key) == value;
              }};
    }
    case 4: {
      const auto flow = any_flow(random);
      return {"flow:" + flow.str(), [=](const ExecutionInfo& i) { return i.flow == flow; }};
    }
    case 5: {
      const auto worker = any_worker(random);
      return {"worker:" + worker.str(), [=](const ExecutionInfo& i) { return i.worker == worker; }};
    }
    case 6: return priority_term(random);
    case 7:
      return time_term(random, "created",
                       [](const ExecutionInfo& info) { return std::optional(info.created_at); });
    default:
      return time_term(random, "ended",
                       [](const ExecutionInfo& info) { return info.completed_at; });
  }
}

TEST(Filters, AgreeWithANaiveFilter) {
  constexpr int filters_per_seed = 300, executions_per_filter = 100;
  std::size_t valid = 0, matching = 0;
  for (const auto seed : test::seeds("tests/property/seeds.txt")) {
    Random random(seed);
    for (int i = 0; i < filters_per_seed; ++i) {
      std::vector<RandomTerm> terms;
      std::string text;
      for (unsigned n = random.below(4); n > 0; --n) {
        terms.push_back(any_term(random));
        text +=
            (text.empty() ? "" : random.one_of<std::string>({" ", "  ", "\t"})) + terms.back().text;
      }
      const auto filter = core::parse_filter(text, now);
      const auto absolute =
          filter ? core::parse_filter(core::to_text(*filter), now + 1h) : std::unexpected(Error{});
      if (filter) {
        ++valid;
        ASSERT_EQ(absolute, filter) << text << "\nseed " << seed;
      }
      for (int j = 0; j < executions_per_filter; ++j) {
        const auto execution = any_execution(random);
        const auto info = core::info_of(execution);
        const bool expected =
            std::ranges::all_of(terms, [&](const RandomTerm& term) { return term.matches(info); });
        if (!filter) {
          // What is refused as a contradiction matches nothing; the others name a term twice.
          const bool is_twice = filter.error().message.find("twice") != std::string::npos;
          ASSERT_TRUE(is_twice || !expected) << text << "\n"
                                             << filter.error().message << "\nseed " << seed;
          continue;
        }
        matching += expected ? 1 : 0;
        ASSERT_EQ(core::may_match(*filter, execution), expected) << text << "\nseed " << seed;
      }
    }
  }
  EXPECT_GT(valid, 100u);
  EXPECT_GT(matching, 100u);
}

}  // namespace
}  // namespace ff::property
