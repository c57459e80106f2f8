#include "core/filters/filter.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/duration.hpp"
#include "base/text/rfc3339.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"

namespace ff::core {
namespace {

constexpr std::string_view allowed_terms =
    "state, lane, kind, tag, flow, worker, priority, created and ended";

// In what people may ask for and the record of an execution does not answer.
constexpr std::array<std::string_view, 12> not_indexed{
    "payload", "result",  "reason",   "error",  "failure",         "category",
    "message", "content", "progress", "signal", "idempotency_key", "step"};

std::unexpected<Error> refuse(std::size_t position, const std::string& why) {
  auto error = fail_field(Errc::invalid_input, "where",
                          fmt::format("where, position {}: {}", position + 1, why));
  error.error().details.push_back({"position", std::to_string(position + 1), true});
  return error;
}

struct Term {
  std::size_t position = 0;  // of its first byte
  std::string key = {};
  std::size_t value_position = 0;
  std::string value = {};
  bool is_quoted = false;  // at least in part
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // None at the end.
  Result<std::optional<Term>> next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ == text_.size()) return std::nullopt;
    Term term{.position = at_};
    while (at_ < text_.size() && text_[at_] != ':' && !is_blank(text_[at_]) && text_[at_] != '"')
      term.key += text_[at_++];
    if (at_ == text_.size() || text_[at_] != ':') return no_colon(term);
    term.value_position = ++at_;
    FF_TRY(read_value(term));
    if (term.value.empty())
      return refuse(term.value_position, fmt::format("'{}:' has no value", printable(term.key)));
    return term;
  }

 private:
  static std::unexpected<Error> no_colon(const Term& term) {
    if (term.key == "OR" || term.key == "or" || term.key == "AND" || term.key == "and" ||
        term.key == "NOT" || term.key == "not")
      return refuse(term.position,
                    fmt::format("there is no '{}': all terms must hold; any of several states is "
                                "state:failed,expired",
                                term.key));
    return refuse(term.position,
                  fmt::format("'{}' is no term; one is key:value, and the keys are {}",
                              printable(term.key), allowed_terms));
  }

  // Up to the next blank that is not in quotation marks.
  Result<void> read_value(Term& term) {
    auto& value = term.value;
    std::optional<std::size_t> quoted_from;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        quoted_from = quoted_from ? std::nullopt : std::optional(at_);
        term.is_quoted = true;
      } else if (quoted_from && c == '\\' && at_ + 1 < text_.size() &&
                 (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\')) {
        value += text_[++at_];
      } else if (!quoted_from && is_blank(c)) {
        return {};
      } else {
        value += c;
      }
    }
    if (quoted_from) return refuse(*quoted_from, "a quotation mark is not closed");
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

enum class Relation : std::uint8_t { equal, above, at_least, below, at_most };

// Takes the relation from the front of a value.
Relation take_relation(std::string_view& value) {
  const auto take = [&](std::string_view sign) {
    if (!value.starts_with(sign)) return false;
    value.remove_prefix(sign.size());
    return true;
  };
  if (take(">=")) return Relation::at_least;
  if (take("<=")) return Relation::at_most;
  if (take(">")) return Relation::above;
  if (take("<")) return Relation::below;
  return Relation::equal;
}

bool is_date(std::string_view text) {
  return text.size() == 10 && text[4] == '-' && text[7] == '-';
}

Result<TimePoint> read_time(std::string_view text, std::size_t position, TimePoint now) {
  if (text.starts_with('-')) {
    if (const auto ago = parse_duration(text.substr(1))) return now - *ago;
  } else if (is_date(text)) {
    if (const auto time = parse_rfc3339(std::string(text) + "T00:00:00Z")) return *time;
  } else if (const auto time = parse_rfc3339(text)) {
    return *time;
  }
  return refuse(position,
                fmt::format("'{}' is not a time; write 2026-01-31T12:00:00Z, 2026-01-31, or "
                            "-30s, -5m, -2h or -1d for so long ago",
                            printable(text)));
}

class Reader {
 public:
  explicit Reader(TimePoint now) : now_(now) {}

  Result<void> add(const Term& term) {
    if (term.key == "state") return states(term);
    if (term.key == "lane") return id(term, filter_.lane);
    if (term.key == "kind") return id(term, filter_.kind);
    if (term.key == "tag") return tag(term);
    if (term.key == "flow") return id(term, filter_.flow);
    if (term.key == "worker") return id(term, filter_.worker);
    if (term.key == "priority") return priority(term);
    if (term.key == "created") return time(term, filter_.created);
    if (term.key == "ended") return time(term, filter_.ended);
    return unknown(term);
  }

  // Terms that no execution can match together.
  Result<Filter> finish() && {
    if (filter_.priority_from > filter_.priority_to)
      return refuse(last_.at("priority"), "the terms of priority leave no priority");
    if (filter_.created.is_empty())
      return refuse(last_.at("created"), "the terms of created leave no time");
    if (filter_.ended.is_empty())
      return refuse(last_.at("ended"), "the terms of ended leave no time");
    if (!filter_.ended.is_open() && !filter_.states.empty() &&
        std::ranges::none_of(filter_.states, [](ExecutionState each) { return is_terminal(each); }))
      return refuse(last_.at("ended"), "an execution in none of these states has ended");
    if (filter_.worker && !filter_.ended.is_open())
      return refuse(last_.at("worker"), "no worker holds an execution that has ended");
    if (filter_.worker && !filter_.shows(ExecutionState::active))
      return refuse(last_.at("worker"), "a worker holds active executions only");
    return std::move(filter_);
  }

 private:
  static std::unexpected<Error> unknown(const Term& term) {
    if (term.key.starts_with('-') || term.key.starts_with('!'))
      return refuse(term.position, "a term cannot be negated: what does not match is in no index");
    if (std::ranges::find(not_indexed, term.key) != not_indexed.end())
      return refuse(
          term.position,
          fmt::format("'{}' is not indexed: every execution would have to be read with it; "
                      "allowed are {}",
                      term.key, allowed_terms));
    return refuse(term.position, fmt::format("there is no term '{}'; allowed are {}",
                                             printable(term.key), allowed_terms));
  }

  bool is_first(const Term& term) { return last_.insert_or_assign(term.key, term.position).second; }

  static std::unexpected<Error> twice(const Term& term) {
    return refuse(term.position, fmt::format("'{}' is there twice; all terms must hold", term.key));
  }

  Result<void> states(const Term& term) {
    if (!is_first(term)) return twice(term);
    for (std::size_t from = 0; from <= term.value.size();) {
      const auto end = std::min(term.value.find(',', from), term.value.size());
      const auto name = std::string_view(term.value).substr(from, end - from);
      const auto state = from_name<ExecutionState>(name);
      if (!state)
        return refuse(term.value_position + from,
                      fmt::format("'{}' is not a state; there are {}", printable(name),
                                  fmt::join(Names<ExecutionState>::values, ", ")));
      if (std::ranges::find(filter_.states, *state) == filter_.states.end())
        filter_.states.push_back(*state);
      from = end + 1;
    }
    return {};
  }

  template <class Id>
  Result<void> id(const Term& term, std::optional<Id>& into) {
    if (!is_first(term)) return twice(term);
    if (const auto star = term.value.find('*'); star != std::string::npos && !term.is_quoted)
      return refuse(
          term.value_position + star,
          fmt::format("'{}' takes one whole name: parts of names are not indexed. A name with a "
                      "'*' in it stands in quotation marks",
                      term.key));
    auto parsed = Id::parse(term.value);
    if (!parsed) return refuse(term.value_position, parsed.error().message);
    into = std::move(*parsed);
    return {};
  }

  Result<void> tag(const Term& term) {
    last_["tag"] = term.position;
    const auto equals = term.value.find('=');
    if (equals == std::string::npos || equals == 0)
      return refuse(term.value_position, "a tag is key=value: which tag, and what it must be");
    auto value = term.value.substr(equals + 1);
    const auto [at, is_new] = filter_.tags.emplace(term.value.substr(0, equals), value);
    if (!is_new && at->second != value)
      return refuse(term.position,
                    fmt::format("the tag {} cannot have two values", printable(at->first)));
    return {};
  }

  Result<void> priority(const Term& term) {
    last_["priority"] = term.position;
    std::string_view text = term.value;
    const auto relation = take_relation(text);
    std::int32_t number = 0;
    const auto [rest, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || rest != text.data() + text.size() || number < 0 ||
        number > limits::priority_max)
      return refuse(
          term.value_position,
          fmt::format("'{}' is not a priority; write N, >N, >=N, <N or <=N with N from 0 to {}",
                      printable(term.value), limits::priority_max));
    const bool is_lower = relation == Relation::equal || relation == Relation::above ||
                          relation == Relation::at_least;
    const bool is_upper =
        relation == Relation::equal || relation == Relation::below || relation == Relation::at_most;
    if ((is_lower && priority_lower_) || (is_upper && priority_upper_)) return twice(term);
    priority_lower_ |= is_lower;
    priority_upper_ |= is_upper;
    if (is_lower) filter_.priority_from = number + (relation == Relation::above ? 1 : 0);
    if (is_upper) filter_.priority_to = number - (relation == Relation::below ? 1 : 0);
    return {};
  }

  Result<void> time(const Term& term, TimeRange& range) {
    last_[term.key] = term.position;
    std::string_view text = term.value;
    const auto relation = take_relation(text);
    if (relation == Relation::equal)
      return refuse(term.value_position,
                    fmt::format("'{}' takes a time after >, >=, < or <=, such as {}:>-2h", term.key,
                                term.key));
    const auto at = read_time(text, term.value_position + term.value.size() - text.size(), now_);
    FF_TRY(at);
    // Times are in milliseconds, so the next one is the first that is later.
    const bool is_next = relation == Relation::above || relation == Relation::at_most;
    auto& bound =
        relation == Relation::above || relation == Relation::at_least ? range.from : range.before;
    if (bound) return twice(term);
    bound = std::clamp(*at + Millis{is_next ? 1 : 0}, TimePoint{}, limits::time_max);
    return {};
  }

  TimePoint now_;
  Filter filter_;
  bool priority_lower_ = false;
  bool priority_upper_ = false;
  std::map<std::string, std::size_t, std::less<>> last_;  // where each key was last
};

// In quotation marks if it needs them.
std::string quoted(std::string_view text) {
  const auto is_special = [](char c) { return is_blank(c) || c == '"' || c == '\\' || c == '*'; };
  if (!text.empty() && std::ranges::none_of(text, is_special)) return std::string(text);
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + '"';
}

void add_range(std::vector<std::string>& terms, std::string_view key, const TimeRange& range) {
  if (range.from) terms.push_back(fmt::format("{}:>={}", key, to_rfc3339(*range.from)));
  if (range.before) terms.push_back(fmt::format("{}:<{}", key, to_rfc3339(*range.before)));
}

// The narrower of two ranges.
void narrow(TimeRange& range, std::optional<TimePoint> from, std::optional<TimePoint> before) {
  if (from && (!range.from || *from > *range.from)) range.from = from;
  if (before && (!range.before || *before < *range.before)) range.before = before;
}

std::unexpected<Error> contradicts(std::string_view field) {
  return fail_field(Errc::invalid_input, field,
                    fmt::format("{} and the same term in `where` contradict each other", field));
}

}  // namespace

bool Filter::shows(ExecutionState state) const {
  return states.empty() || std::ranges::find(states, state) != states.end();
}

Result<Filter> parse_filter(std::string_view text, TimePoint now) {
  if (text.size() > limits::where_bytes_max)
    return fail_field(Errc::invalid_input, "where",
                      fmt::format("where is {} bytes; at most {} are allowed", text.size(),
                                  limits::where_bytes_max));
  if (!is_valid_utf8(text))
    return fail_field(Errc::invalid_input, "where", "where must be valid UTF-8");
  Scanner scanner(text);
  Reader reader(now);
  for (std::size_t count = 0;; ++count) {
    const auto term = scanner.next();
    FF_TRY(term);
    if (!*term) return std::move(reader).finish();
    if (count == limits::where_terms_max)
      return refuse((*term)->position,
                    fmt::format("at most {} terms are allowed", limits::where_terms_max));
    FF_TRY(reader.add(**term));
  }
}

std::string to_text(const Filter& filter) {
  std::vector<std::string> terms;
  if (!filter.states.empty()) {
    std::vector<std::string_view> names;
    for (const auto state : filter.states) names.push_back(to_string(state));
    terms.push_back(fmt::format("state:{}", fmt::join(names, ",")));
  }
  if (filter.lane) terms.push_back("lane:" + quoted(filter.lane->str()));
  if (filter.kind) terms.push_back("kind:" + quoted(filter.kind->str()));
  for (const auto& [key, value] : filter.tags) terms.push_back("tag:" + quoted(key + '=' + value));
  if (filter.flow) terms.push_back("flow:" + filter.flow->str());
  if (filter.worker) terms.push_back("worker:" + quoted(filter.worker->str()));
  if (filter.priority_from > 0) terms.push_back(fmt::format("priority:>={}", filter.priority_from));
  if (filter.priority_to < limits::priority_max)
    terms.push_back(fmt::format("priority:<={}", filter.priority_to));
  add_range(terms, "created", filter.created);
  add_range(terms, "ended", filter.ended);
  return fmt::format("{}", fmt::join(terms, " "));
}

Result<Filter> filter_of(const ListExecutions& list, TimePoint now) {
  auto filter = parse_filter(list.where.value_or(""), now);
  FF_TRY(filter);
  if (list.lane) {
    if (filter->lane && filter->lane != list.lane) return contradicts("lane");
    filter->lane = list.lane;
  }
  if (list.kind) {
    if (filter->kind && filter->kind != list.kind) return contradicts("kind");
    filter->kind = list.kind;
  }
  if (list.state) {
    if (!filter->shows(*list.state)) return contradicts("state");
    filter->states = {*list.state};
  }
  if (list.tag) {
    const auto equals = list.tag->find('=');
    const auto value = list.tag->substr(equals + 1);
    const auto [at, is_new] = filter->tags.emplace(list.tag->substr(0, equals), value);
    if (!is_new && at->second != value) return contradicts("tag");
  }
  narrow(filter->created, list.created_from, list.created_before);
  return filter;
}

bool may_match(const Filter& filter, const Execution& execution) {
  if (filter.lane && execution.lane != *filter.lane) return false;
  if (filter.kind && execution.kind != *filter.kind) return false;
  if (execution.priority < filter.priority_from || execution.priority > filter.priority_to)
    return false;
  if (!filter.created.contains(execution.created_at)) return false;
  if (filter.flow && (!execution.flow || execution.flow->flow != *filter.flow)) return false;
  if (!filter.states.empty() && std::ranges::none_of(filter.states, [&](ExecutionState state) {
        return may_show(execution, state);
      }))
    return false;
  if (!filter.ended.is_open()) {
    const auto* ended = std::get_if<Ended>(&execution.state);
    if (!ended || !filter.ended.contains(ended->at)) return false;
  }
  if (filter.worker) {
    const auto* active = std::get_if<Active>(&execution.state);
    if (!active || active->lease.worker != *filter.worker) return false;
  }
  return std::ranges::all_of(filter.tags, [&](const auto& tag) {
    const auto found = execution.tags.find(tag.first);
    return found != execution.tags.end() && found->second == tag.second;
  });
}

}  // namespace ff::core
