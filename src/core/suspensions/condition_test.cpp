#include "core/suspensions/condition.hpp"

#include <random>

#include "core/test_support.hpp"

namespace ff::core {
namespace {

Condition signal(std::string text) { return {OneSignal{.name = signal_name(std::move(text))}}; }
Condition any_signal() { return {OneSignal{}}; }
Condition at(std::string waitpoint) {
  return {OneSignal{.waitpoint = waitpoint_key(std::move(waitpoint))}};
}
Condition all(std::vector<Condition> of) { return {AllOf{std::move(of)}}; }
Condition any(std::vector<Condition> of) { return {AnyOf{std::move(of)}}; }
Condition count(std::uint32_t n, Counted of, std::vector<std::string> waitpoints = {}) {
  CountOf many{.n = n, .of = of};
  for (auto& each : waitpoints) many.waitpoints.push_back(waitpoint_key(each));
  return {std::move(many)};
}

// "name@waitpoint/source", each part optional.
Arrival arrival(std::string_view text, std::uint8_t n) {
  Arrival made{.id = SignalId{uuid_of(n)}, .name = signal_name("x")};
  const auto slash = text.find('/');
  if (slash != text.npos)
    made.source = {.type = "user", .identity = std::string(text.substr(slash + 1))};
  text = text.substr(0, slash);
  const auto at_sign = text.find('@');
  if (at_sign != text.npos) made.waitpoint = waitpoint_key(std::string(text.substr(at_sign + 1)));
  made.name = signal_name(std::string(text.substr(0, at_sign)));
  return made;
}

std::string_view word(Match match) {
  switch (match) {
    case Match::not_asked: return "not asked";
    case Match::other_name: return "other name";
    case Match::repeated: return "repeated";
    case Match::counted: return "counted";
  }
  return "";
}

// The effect of each signal, up to the one that satisfies the condition.
std::string story(const Condition& condition, std::initializer_list<std::string_view> signals) {
  Tally tally;
  std::string text;
  std::uint8_t n = 0;
  for (const auto each : signals) {
    const auto match = count_signal(condition, tally, arrival(each, ++n));
    text += (text.empty() ? "" : ", ") + std::string(word(match));
    if (is_satisfied(condition, tally)) return text + " -> satisfied";
  }
  return text;
}

TEST(Condition, TakesASignalByName) {
  EXPECT_EQ(story(signal("a"), {"b", "a"}), "other name, counted -> satisfied");
  EXPECT_EQ(story(any_signal(), {"b"}), "counted -> satisfied");
}

TEST(Condition, TakesASignalAtAWaitpointOnlyThere) {
  EXPECT_EQ(story(at("w"), {"a", "a@v", "a@w"}), "not asked, not asked, counted -> satisfied");
  EXPECT_EQ(story(signal("a"), {"a@v"}), "counted -> satisfied");
}

TEST(Condition, AllNeedsEveryPart) {
  EXPECT_EQ(story(all({signal("a"), signal("b")}), {"a", "a", "b"}),
            "counted, repeated, counted -> satisfied");
}

TEST(Condition, CountsAreKeptApartForEachPart) {
  const auto two_each = all({count(2, Counted::signals, {"v"}), count(2, Counted::signals, {"w"})});
  EXPECT_EQ(story(two_each, {"a@v", "a@v", "a@w", "a@w"}),
            "counted, counted, counted, counted -> satisfied");
  const auto one_each =
      all({count(1, Counted::waitpoints, {"v"}), count(1, Counted::waitpoints, {"w"})});
  EXPECT_EQ(story(one_each, {"a@v", "a@v", "a@w"}), "counted, repeated, counted -> satisfied");
}

TEST(Condition, NestedPartsCanBeSatisfied) {
  EXPECT_EQ(story(all({all({all({signal("a")})})}), {"a"}), "counted -> satisfied");
  EXPECT_EQ(story(all({all({count(1, Counted::signals)})}), {"a"}), "counted -> satisfied");
}

TEST(Condition, ASourceCountsOnce) {
  EXPECT_EQ(story(count(2, Counted::sources), {"a/ann", "a/ann", "a/bob"}),
            "counted, repeated, counted -> satisfied");
}

TEST(Condition, SourcesThatDifferInTypeOrIdentityCountApart) {
  const auto condition = count(4, Counted::sources);
  Tally tally;
  for (const auto& source : {SignalSource{"a:b", "c"}, SignalSource{"a", "b:c"},
                             SignalSource{"a\\", "b:c"}, SignalSource{"a\\:b", "c"}}) {
    auto each = arrival("x", 1);
    each.source = source;
    EXPECT_EQ(word(count_signal(condition, tally, each)), "counted");
    EXPECT_EQ(word(count_signal(condition, tally, each)), "repeated");
  }
}

TEST(Condition, AWaitpointCountsOnceAndOtherSignalsNotAtAll) {
  EXPECT_EQ(story(count(2, Counted::waitpoints), {"a", "a@v", "b@v", "a@w"}),
            "not asked, counted, repeated, counted -> satisfied");
}

TEST(Condition, AnyEndsWithARejection) {
  CountOf approvals{.n = 2, .of = Counted::sources, .name = signal_name("approve")};
  const auto quorum = any({{approvals}, signal("reject")});
  EXPECT_EQ(story(quorum, {"approve/ann", "reject/bob"}), "counted, counted -> satisfied");
}

TEST(Condition, NoSignalSatisfiesOperatorOrTimeout) {
  EXPECT_EQ(story({OperatorOnly{}}, {"a", "__operator_only__"}), "not asked, not asked");
  EXPECT_EQ(story({TimeoutOnly{}}, {"a", "__timeout_only__"}), "not asked, not asked");
}

TEST(Condition, TellsHowFarItIs) {
  CountOf approvals{.n = 2, .of = Counted::sources, .name = signal_name("approve")};
  const auto quorum = any({{approvals}, signal("reject")});
  Tally tally;
  count_signal(quorum, tally, arrival("approve/ann", 1));
  EXPECT_EQ(describe_progress(quorum, tally),
            "1 of 2 approve signals from different sources or the signal reject");
}

std::string refusal(const Condition& condition, std::vector<std::string> waitpoints = {},
                    ConditionTerms terms = {}) {
  for (auto& each : waitpoints) terms.waitpoints.push_back(waitpoint_key(each));
  const auto checked = check_condition(condition, terms);
  return checked ? "ok" : checked.error().message;
}

TEST(ConditionCheck, RefusesWhatCanNeverBeSatisfiedWithItsPath) {
  EXPECT_EQ(
      refusal(all({signal("a"), {OperatorOnly{}}})),
      "condition.all[1] can never be satisfied by a signal; use it alone or as one of several "
      "alternatives");
  EXPECT_EQ(refusal({TimeoutOnly{}}),
            "condition needs a timeout: without one it would wait for ever");
  EXPECT_EQ(refusal(any({count(3, Counted::waitpoints)}), {"v", "w"}),
            "condition.any[0].count asks for 3 waitpoints, and there are 2");
  EXPECT_EQ(refusal(all({})), "condition.all is empty");
  EXPECT_EQ(refusal(any({all({}), signal("a")})), "condition.any[0].all is empty");
  EXPECT_EQ(refusal(count(0, Counted::signals)), "condition.count must be at least 1");
  EXPECT_EQ(refusal(count(1'001, Counted::signals)), "condition.count must be at most 1000");
  EXPECT_EQ(refusal(any({signal("a"), count(5, Counted::sources)}), {}, {.signals_max = 2}),
            "condition.any[1].count asks for 5 signals, and the policy allows 2");
  EXPECT_EQ(refusal(all({count(600, Counted::signals), count(401, Counted::sources)})),
            "condition.all[1].count is too much: the counts of a condition add up to at most 1000");
  EXPECT_EQ(refusal(at("w")),
            "condition.waitpoint names the waitpoint w, which the suspension does not have");
  EXPECT_EQ(refusal(count(1, Counted::signals, {"v", "w"}), {"v"}),
            "condition.waitpoints[1] names the waitpoint w, which the suspension does not have");
  EXPECT_EQ(refusal(all({all({all({all({signal("a")})})})})),
            "condition.all[0].all[0].all[0].all[0] is nested deeper than 4 levels");
  EXPECT_EQ(refusal(all(std::vector(256, signal("a")))),
            "condition.all[255] is one too many: a condition has at most 256 parts");
}

TEST(ConditionCheck, AcceptsAlternativesToSignals) {
  EXPECT_EQ(refusal({OperatorOnly{}}), "ok");
  EXPECT_EQ(refusal(any({signal("a"), {OperatorOnly{}}})), "ok");
  EXPECT_EQ(refusal({TimeoutOnly{}}, {}, {.has_timeout = true}), "ok");
  EXPECT_EQ(refusal(all({all({all({signal("a")})})})), "ok");
}

// ---- Counting step by step equals counting from the start

Condition random_condition(std::mt19937& random, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::string names[] = {"a", "b"};
  const std::string waitpoints[] = {"v", "w"};
  switch (pick(depth > 0 ? 5 : 3)) {
    case 0: return signal(names[pick(2)]);
    case 1: return at(waitpoints[pick(2)]);
    case 2:
      return count(
          static_cast<std::uint32_t>(1 + pick(3)), static_cast<Counted>(pick(3)),
          pick(2) ? std::vector<std::string>{waitpoints[pick(2)]} : std::vector<std::string>{});
    case 3: return all({random_condition(random, depth - 1), random_condition(random, depth - 1)});
    default: return any({random_condition(random, depth - 1), random_condition(random, depth - 1)});
  }
}

// Whether the signals satisfy the condition, without a tally.
bool recount(const Condition& condition, const std::vector<Arrival>& signals) {
  return std::visit(
      Overloaded{
          [&](const OneSignal& one) {
            return std::ranges::any_of(signals, [&](const Arrival& each) {
              return (!one.name || *one.name == each.name) &&
                     (!one.waitpoint || one.waitpoint == each.waitpoint);
            });
          },
          [&](const CountOf& many) {
            std::set<std::string> seen;
            for (const auto& each : signals) {
              const bool here =
                  many.waitpoints.empty() ||
                  (each.waitpoint &&
                   std::ranges::find(many.waitpoints, *each.waitpoint) != many.waitpoints.end());
              if (!here || (many.name && *many.name != each.name)) continue;
              if (many.of == Counted::signals) seen.insert(each.id.str());
              if (many.of == Counted::sources) seen.insert(each.source.identity);
              if (many.of == Counted::waitpoints && each.waitpoint)
                seen.insert(each.waitpoint->str());
            }
            return seen.size() >= many.n;
          },
          [&](const AllOf& all) {
            return std::ranges::all_of(all.of,
                                       [&](const auto& each) { return recount(each, signals); });
          },
          [&](const AnyOf& any) {
            return std::ranges::any_of(any.of,
                                       [&](const auto& each) { return recount(each, signals); });
          },
          [](const OperatorOnly&) { return false; },
          [](const TimeoutOnly&) { return false; },
      },
      condition.is);
}

TEST(Condition, CountingStepByStepEqualsARecount) {
  constexpr unsigned seed = 20'261'118;
  std::mt19937 random(seed);
  const std::string_view kinds[] = {"a",     "b",       "a@v",     "b@w",    "a/ann",
                                    "a/bob", "a@v/ann", "b@w/ann", "a@w/bob"};
  for (int round = 0; round < 5'000; ++round) {
    const auto condition = random_condition(random, 3);
    Tally tally;
    std::vector<Arrival> arrived;
    for (std::uint8_t n = 1; n <= 12; ++n) {
      arrived.push_back(arrival(kinds[random() % std::size(kinds)], n));
      count_signal(condition, tally, arrived.back());
      ASSERT_EQ(is_satisfied(condition, tally), recount(condition, arrived))
          << "seed " << seed << ", round " << round << ", signal " << int{n};
    }
  }
}

}  // namespace
}  // namespace ff::core
