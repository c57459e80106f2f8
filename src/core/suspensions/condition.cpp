#include "core/suspensions/condition.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.hpp"
#include "base/overloaded.hpp"
#include "base/try.hpp"

namespace ff::core {
namespace {

bool accepts_name(const std::optional<SignalName>& name, const Arrival& arrival) {
  return !name || *name == arrival.name;
}

// Different for different sources: a colon that belongs to the type has a backslash before it.
std::string source_text(const SignalSource& source) {
  std::string text;
  for (const char each : source.type) {
    if (each == ':' || each == '\\') text += '\\';
    text += each;
  }
  return text + ':' + source.identity;
}

// The part of a signal that a count counts; none: the signal has no such part.
std::optional<std::string> counted_of(Counted of, const Arrival& arrival) {
  switch (of) {
    case Counted::signals: return arrival.id.str();
    case Counted::sources: return source_text(arrival.source);
    case Counted::waitpoints:
      if (!arrival.waitpoint) return std::nullopt;
      return arrival.waitpoint->str();
  }
  return std::nullopt;
}

Match add(std::vector<std::string>& seen, std::string what, std::size_t enough) {
  if (seen.size() >= enough || std::ranges::find(seen, what) != seen.end()) return Match::repeated;
  seen.push_back(std::move(what));
  return Match::counted;
}

// Visits the parts in reading order; `index` numbers those that take signals.
class Counter {
 public:
  Counter(Tally& tally, const Arrival& arrival) : tally_(tally), arrival_(arrival) {}

  Match count(const Condition& condition) {
    return std::visit([this](const auto& part) { return count_in(part); }, condition.is);
  }

 private:
  std::vector<std::string>& next_part() {
    if (tally_.parts.size() <= index_) tally_.parts.resize(index_ + 1);
    return tally_.parts[index_++];
  }
  Match count_in(const OneSignal& one) {
    auto& seen = next_part();
    if (one.waitpoint && one.waitpoint != arrival_.waitpoint) return Match::not_asked;
    if (!accepts_name(one.name, arrival_)) return Match::other_name;
    return add(seen, arrival_.id.str(), 1);
  }
  Match count_in(const CountOf& many) {
    auto& seen = next_part();
    const bool asked =
        many.waitpoints.empty() ||
        (arrival_.waitpoint &&
         std::ranges::find(many.waitpoints, *arrival_.waitpoint) != many.waitpoints.end());
    auto what = counted_of(many.of, arrival_);
    if (!asked || !what) return Match::not_asked;
    if (!accepts_name(many.name, arrival_)) return Match::other_name;
    return add(seen, std::move(*what), many.n);
  }
  Match count_in(const AllOf& all) { return best_of(all.of); }
  Match count_in(const AnyOf& any) { return best_of(any.of); }
  Match count_in(const OperatorOnly&) { return Match::not_asked; }
  Match count_in(const TimeoutOnly&) { return Match::not_asked; }

  Match best_of(const std::vector<Condition>& parts) {
    auto best = Match::not_asked;
    for (const auto& part : parts) best = std::max(best, count(part));
    return best;
  }

  Tally& tally_;
  const Arrival& arrival_;
  std::size_t index_ = 0;
};

class Reader {
 public:
  explicit Reader(const Tally& tally) : tally_(tally) {}

  // Every part is visited, whatever the others say: the numbering depends on it.
  bool satisfied(const Condition& condition) {
    return std::visit(Overloaded{
                          [this](const OneSignal&) { return next_count() >= 1; },
                          [this](const CountOf& many) { return next_count() >= many.n; },
                          [this](const AllOf& all) {
                            bool every = true;
                            for (const auto& part : all.of) every = satisfied(part) && every;
                            return every;
                          },
                          [this](const AnyOf& any) {
                            bool some = false;
                            for (const auto& part : any.of) some = satisfied(part) || some;
                            return some;
                          },
                          [](const OperatorOnly&) { return false; },
                          [](const TimeoutOnly&) { return false; },
                      },
                      condition.is);
  }

  std::string describe(const Condition& condition) {
    return std::visit(
        Overloaded{
            [this](const OneSignal& one) {
              auto text = one.name ? fmt::format("the signal {}", one.name->str())
                                   : std::string("any signal");
              if (one.waitpoint) text += fmt::format(" at the waitpoint {}", one.waitpoint->str());
              if (next_count() > 0) text += " (arrived)";
              return text;
            },
            [this](const CountOf& many) {
              const auto what = many.name ? fmt::format("{} signals", many.name->str()) : "signals";
              const auto from = many.of == Counted::sources      ? " from different sources"
                                : many.of == Counted::waitpoints ? " at different waitpoints"
                                                                 : "";
              return fmt::format("{} of {} {}{}", next_count(), many.n, what, from);
            },
            [this](const AllOf& all) { return join(all.of, " and "); },
            [this](const AnyOf& any) { return join(any.of, " or "); },
            [](const OperatorOnly&) { return std::string("an operator"); },
            [](const TimeoutOnly&) { return std::string("its timeout"); },
        },
        condition.is);
  }

 private:
  std::size_t next_count() {
    const auto index = index_++;
    return index < tally_.parts.size() ? tally_.parts[index].size() : 0;
  }
  std::string join(const std::vector<Condition>& parts, std::string_view word) {
    std::vector<std::string> texts;
    for (const auto& part : parts) {
      const bool is_group =
          std::holds_alternative<AllOf>(part.is) || std::holds_alternative<AnyOf>(part.is);
      auto text = describe(part);
      texts.push_back(is_group ? '(' + text + ')' : std::move(text));
    }
    return fmt::format("{}", fmt::join(texts, word));
  }

  const Tally& tally_;
  std::size_t index_ = 0;
};

class Checker {
 public:
  explicit Checker(const ConditionTerms& terms) : terms_(terms) {}

  // `by_signal`: the whole can only be satisfied if signals satisfy this part.
  Result<void> check(const Condition& condition, const std::string& path, std::size_t depth,
                     bool by_signal) {
    if (depth > limits::condition_depth_max)
      return refuse(path,
                    fmt::format("is nested deeper than {} levels", limits::condition_depth_max));
    if (++nodes_ > limits::condition_nodes_max)
      return refuse(path, fmt::format("is one too many: a condition has at most {} parts",
                                      limits::condition_nodes_max));
    return std::visit(
        Overloaded{
            [&](const OneSignal& one) {
              return one.waitpoint ? bound(*one.waitpoint, path + ".waitpoint") : Result<void>{};
            },
            [&](const CountOf& many) { return check_count(many, path); },
            [&](const AllOf& all) { return check_parts(all.of, path + ".all", depth, true); },
            [&](const AnyOf& any) {
              return check_parts(any.of, path + ".any", depth, by_signal && any.of.size() == 1);
            },
            [&](const OperatorOnly&) {
              return by_signal ? refuse(path,
                                        "can never be satisfied by a signal; use it alone or "
                                        "as one of several alternatives")
                               : Result<void>{};
            },
            [&](const TimeoutOnly&) {
              if (by_signal)
                return refuse(path,
                              "can never be satisfied by a signal; use it alone or as one of "
                              "several alternatives");
              return terms_.has_timeout
                         ? Result<void>{}
                         : refuse(path, "needs a timeout: without one it would wait for ever");
            },
        },
        condition.is);
  }

 private:
  static Result<void> refuse(const std::string& path, std::string_view why) {
    return fail(Errc::invalid_condition, fmt::format("{} {}", path, why), {{"field", path}});
  }
  Result<void> bound(const WaitpointKey& key, const std::string& path) const {
    if (std::ranges::find(terms_.waitpoints, key) != terms_.waitpoints.end()) return {};
    return refuse(
        path, fmt::format("names the waitpoint {}, which the suspension does not have", key.str()));
  }
  Result<void> check_parts(const std::vector<Condition>& parts, const std::string& path,
                           std::size_t depth, bool by_signal) {
    if (parts.empty()) return refuse(path, "is empty");
    for (std::size_t i = 0; i < parts.size(); ++i)
      FF_TRY(check(parts[i], fmt::format("{}[{}]", path, i), depth + 1, by_signal));
    return {};
  }
  Result<void> check_count(const CountOf& many, const std::string& path) {
    if (many.n == 0) return refuse(path + ".count", "must be at least 1");
    if (many.n > limits::condition_count_max)
      return refuse(path + ".count",
                    fmt::format("must be at most {}", limits::condition_count_max));
    if (many.n > terms_.signals_max)
      return refuse(path + ".count", fmt::format("asks for {} signals, and the policy allows {}",
                                                 many.n, terms_.signals_max));
    // Each signal is compared with everything that has counted.
    counted_ += many.n;
    if (counted_ > limits::condition_count_max)
      return refuse(path + ".count",
                    fmt::format("is too much: the counts of a condition add up to at most {}",
                                limits::condition_count_max));
    for (std::size_t i = 0; i < many.waitpoints.size(); ++i)
      FF_TRY(bound(many.waitpoints[i], fmt::format("{}.waitpoints[{}]", path, i)));
    if (many.of != Counted::waitpoints) return {};
    const std::set<WaitpointKey> named(many.waitpoints.begin(), many.waitpoints.end());
    const auto there = named.empty() ? terms_.waitpoints.size() : named.size();
    if (many.n > there)
      return refuse(path + ".count",
                    fmt::format("asks for {} waitpoints, and there are {}", many.n, there));
    return {};
  }

  const ConditionTerms& terms_;
  std::size_t nodes_ = 0;
  std::uint32_t counted_ = 0;  // that all counts together ask for
};

}  // namespace

Match count_signal(const Condition& condition, Tally& tally, const Arrival& arrival) {
  return Counter(tally, arrival).count(condition);
}

bool is_satisfied(const Condition& condition, const Tally& tally) {
  return Reader(tally).satisfied(condition);
}

std::string describe_progress(const Condition& condition, const Tally& tally) {
  return Reader(tally).describe(condition);
}

Result<void> check_condition(const Condition& condition, const ConditionTerms& terms) {
  return Checker(terms).check(condition, "condition", 1, false);
}

ConditionTerms terms_of(const Suspend& command) {
  ConditionTerms terms{.has_timeout = command.timeout.has_value()};
  for (const auto& waitpoint : command.waitpoints) terms.waitpoints.push_back(waitpoint.key);
  return terms;
}

}  // namespace ff::core
