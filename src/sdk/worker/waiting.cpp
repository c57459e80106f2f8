// Tasks that wait: signals, questions and durable steps.
#include <flowfabric/limits.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "base/overloaded.hpp"
#include "base/text/digest.hpp"
#include "base/text/utf8.hpp"
#include "sdk/worker/task_call.hpp"
#include "sdk/worker/task_run.hpp"

namespace ff {
namespace {

constexpr std::string_view reserved_prefix = "ff:";

// The name of a step that the SDK keeps; one that would be too long is shortened to its digest.
std::string own_step(std::string_view what, std::string_view name) {
  auto text = fmt::format("{}{}:{}", reserved_prefix, what, name);
  if (text.size() <= step_rule.bytes_max) return text;
  return fmt::format("{}{}:{:016x}", reserved_prefix, what, Digest().add(text).value());
}

// The same for the same wait of the same attempt, so that the run after the suspension recognises which of its
// waits has ended, and so that a repeated report is no second suspension.
SuspensionId suspension_id(const AttemptId& attempt, std::string_view wait) {
  const auto digest = [&](std::int64_t half) {
    return Digest().add(half).add(attempt.str()).add(wait).value();
  };
  return SuspensionId{make_uuid(digest(0), digest(1))};
}

// Nothing can be left of an earlier run.
bool is_first_run(const ClaimedExecution& claimed) {
  return claimed.attempt_index == 0 && !claimed.resumed;
}

// ---- Questions ------------------------------------------------------------------------------------

struct Poll {
  const Question& question;
  std::uint32_t needed;
};

void check(const Poll& poll, std::string_view key) {
  if (poll.question.choices.empty())
    fail_for_good(fmt::format("the question '{}' has no choices", key));
  const auto voters = std::max<std::size_t>(poll.question.approvers.size(), 1);
  if (poll.needed < 1 || poll.needed > voters)
    fail_for_good(
        fmt::format("the question '{}' needs {} of {} people; needed must be from 1 to {}", key,
                    poll.needed, voters, voters));
}

Condition condition_of(const Poll& poll, const WaitpointKey& key) {
  AnyOf any;
  for (const auto& choice : poll.question.choices) {
    const bool is_first = &choice == &poll.question.choices.front();
    if (is_first && poll.needed > 1)
      any.of.push_back({CountOf{
          .n = poll.needed, .of = Counted::sources, .name = choice.signal, .waitpoints = {key}}});
    else
      any.of.push_back({OneSignal{.name = choice.signal, .waitpoint = key}});
  }
  return {std::move(any)};
}

// The answers up to the one that decides, if one does.
Decision decide(const Poll& poll, const std::vector<Signal>& signals,
                const WaitpointId& waitpoint) {
  Decision decision;
  std::set<std::string> in_favour;
  for (const auto& signal : signals) {
    if (signal.waitpoint != waitpoint) continue;
    const auto choice =
        std::ranges::find(poll.question.choices, signal.name, &Question::Choice::signal);
    if (choice == poll.question.choices.end()) continue;
    decision.answers.push_back(signal);
    const bool is_first = choice == poll.question.choices.begin();
    if (is_first) in_favour.insert(signal.source.type + ':' + signal.source.identity);
    if (is_first && in_favour.size() < poll.needed) continue;
    decision.choice = signal.name;
    break;
  }
  return decision;
}

}  // namespace

// ---- Signals and answers --------------------------------------------------------------------------

const std::string& Signal::text() const {
  if (!is_valid_utf8(payload))
    fail_for_good(fmt::format("the payload of the signal '{}' is not UTF-8 text", name.str()));
  return payload;
}

boost::json::value Signal::json() const {
  boost::system::error_code malformed;
  auto value = boost::json::parse(payload, malformed);
  if (malformed)
    fail_for_good(fmt::format("the payload of the signal '{}' is not JSON: {}", name.str(),
                              malformed.message()));
  return value;
}

const Signal& Answer::signal() const {
  if (!signal_)
    fail_for_good(fmt::format("the wait ended without a signal: {}", to_string(cause_)));
  return *signal_;
}

boost::json::value Answer::json() const { return signal().json(); }

Question approval(std::string title, std::string text, std::vector<std::string> approvers) {
  return {.title = std::move(title),
          .text = std::move(text),
          .choices = {{must(SignalName::parse("approve")), "Approve"},
                      {must(SignalName::parse("reject")), "Reject"}},
          .approvers = std::move(approvers)};
}

const std::vector<Signal>& Task::signals() {
  const std::lock_guard lock(run_->mutex);
  if (run_->signals) return *run_->signals;
  std::vector<Signal> all;
  GetSignals get{.id = claimed_.id, .limit = limits::list_page_max};
  for (std::optional<std::uint32_t> next = 0; next;) {
    get.from = *next;
    auto page = call(*context_, get);
    for (auto& signal : page.signals) all.push_back(Signal{std::move(signal)});
    next = page.next;
  }
  return run_->signals.emplace(std::move(all));
}

std::vector<Signal> Task::signals(std::string_view name) {
  std::vector<Signal> of_name;
  std::ranges::copy_if(signals(), std::back_inserter(of_name),
                       [&](const Signal& each) { return each.name.str() == name; });
  return of_name;
}

std::string Task::suspension_state() {
  if (is_first_run(claimed_)) return {};
  auto reply = call(*context_, GetSuspension{claimed_.id});
  return reply.suspension ? std::move(reply.suspension->state) : std::string();
}

// ---- Waiting --------------------------------------------------------------------------------------

std::optional<WakeCause> Task::end_of_wait(const std::string& wait) {
  const auto step = own_step("wait", wait);
  if (const auto kept = kept_step(step)) return from_name<WakeCause>(kept->bytes);
  const auto& wake = claimed_.wake;
  const bool is_over = wake && wake->cause != WakeCause::signals &&
                       wake->suspension_id == suspension_id(claimed_.fence.attempt_id, wait);
  if (!is_over) return std::nullopt;
  return keep_end(wait, wake->cause);
}

// A later run must find the same end, though a signal may have arrived meanwhile.
WakeCause Task::keep_end(const std::string& wait, WakeCause cause) {
  keep_step(own_step("wait", wait), detail::to_step(std::string(to_string(cause))));
  return cause;
}

void Task::suspend(const std::string& wait, SuspendOptions options) {
  options.id = suspension_id(claimed_.fence.attempt_id, wait);
  run_->suspension = options;
  throw SuspendHandler{std::move(options)};
}

Answer Task::wait_for(std::string_view name, WaitOptions options) {
  const auto signal_name = or_fail(SignalName::parse(std::string(name)));
  const auto waitpoint_id = options.waitpoint ? std::optional(options.waitpoint->id) : std::nullopt;
  auto wait = waitpoint_id ? fmt::format("{}@{}", name, waitpoint_id->str()) : std::string(name);
  auto& reads = run_->reads[wait];
  wait += fmt::format("#{}", reads.waits++);
  if (const auto cause = end_of_wait(wait)) return Answer(*cause);

  std::size_t seen = 0;
  std::size_t uncounted = 0;
  for (const auto& signal : signals()) {
    if (signal.name != signal_name || signal.waitpoint != waitpoint_id) continue;
    if (seen++ == reads.signals) {
      ++reads.signals;
      return Answer(signal);
    }
    if (!signal.counted_for) ++uncounted;
  }

  SuspendOptions suspension{
      .reason = options.reason, .timeout = options.timeout, .on_timeout = options.on_timeout};
  std::optional<WaitpointKey> key;
  if (options.waitpoint) {
    if (const auto cause = end_of_waitpoint(*options.waitpoint))
      return Answer(keep_end(wait, *cause));
    key = options.waitpoint->key;
    suspension.waitpoints.push_back({.key = *key, .id = waitpoint_id});
  }
  // Signals that this run has read, and that no suspension has counted, would satisfy it at once.
  if (uncounted == 0) {
    suspension.condition = {OneSignal{.name = signal_name, .waitpoint = key}};
  } else {
    const auto n = std::min<std::size_t>(uncounted + 1, limits::condition_count_max);
    CountOf count{.n = static_cast<std::uint32_t>(n), .of = Counted::signals, .name = signal_name};
    if (key) count.waitpoints.push_back(*key);
    suspension.condition = {std::move(count)};
    // Too many for one condition: those that it counts satisfy it, and the run after it has fewer of them.
    if (n <= uncounted) wait += fmt::format("/{}", uncounted);
  }
  suspend(wait, std::move(suspension));
}

// ---- Waitpoints -----------------------------------------------------------------------------------

// A waitpoint that an earlier run has opened may be over: its wait timed out, or an operator ended it.
std::optional<WakeCause> Task::end_of_waitpoint(const WaitpointHandle& waitpoint) {
  if (run_->opened.contains(waitpoint.id)) return std::nullopt;
  const auto known = call(*context_, GetSuspension{claimed_.id}).waitpoints;
  const auto found = std::ranges::find(known, waitpoint.id, &WaitpointInfo::id);
  if (found != known.end() && found->state != WaitpointState::closed) return std::nullopt;
  const bool by_operator = found != known.end() && found->close_reason == "resumed";
  return by_operator ? WakeCause::operator_ : WakeCause::timeout;
}

WaitpointHandle Task::waitpoint(std::string_view key, const HandOut& hand_out,
                                WaitpointOptions options) {
  auto waitpoint_key = or_fail(WaitpointKey::parse(std::string(key)));
  const auto step = own_step("waitpoint", key);
  if (const auto kept = kept_step(step))
    return {std::move(waitpoint_key), or_fail(WaitpointId::parse(kept->bytes))};
  auto issued =
      call(*context_, CreateWaitpoint{.id = claimed_.id,
                                      .fence = claimed_.fence,
                                      .waitpoint = {.key = waitpoint_key,
                                                    .expires_in = options.expires_in,
                                                    .question = std::move(options.question)}})
          .waitpoint;
  if (hand_out) hand_out(issued);
  // Without the tokens: whoever may read the execution may read its steps.
  keep_step(step, detail::to_step(issued.info.id.str()));
  run_->opened.insert(issued.info.id);
  return {std::move(waitpoint_key), issued.info.id};
}

Decision Task::ask(std::string_view key, Question question, const HandOut& hand_out,
                   AskOptions options) {
  const Poll poll{question, options.needed};
  check(poll, key);
  const auto opened = waitpoint(key, hand_out, {.question = question});
  const auto wait = fmt::format("ask:{}", key);
  auto decision = decide(poll, signals(), opened.id);
  if (decision) return decision;
  auto cause = end_of_wait(wait);
  if (!cause) {
    cause = end_of_waitpoint(opened);
    if (cause) keep_end(wait, *cause);
  }
  if (cause) {
    decision.cause = *cause;
    return decision;
  }
  suspend(wait, {.condition = condition_of(poll, opened.key),
                 .waitpoints = {{.key = opened.key, .id = opened.id}},
                 .reason = options.reason,
                 .timeout = options.timeout,
                 .on_timeout = options.on_timeout});
}

// ---- Steps ----------------------------------------------------------------------------------------

namespace detail {

Bytes to_step(std::string result) { return {.bytes = std::move(result)}; }
Bytes to_step(Bytes result) { return result; }
Bytes to_step(const boost::json::value& result) {
  return {.bytes = boost::json::serialize(result),
          .content_type = must(ContentType::parse("application/json"))};
}

boost::json::value StepResult<boost::json::value>::from(const Bytes& kept) {
  boost::system::error_code malformed;
  auto value = boost::json::parse(kept.bytes, malformed);
  if (malformed) fail_for_good("the kept result of a step is not JSON: " + malformed.message());
  return value;
}

}  // namespace detail

void Task::check_step_name(std::string_view name) {
  if (name.starts_with(reserved_prefix))
    fail_for_good(fmt::format("the name of a step must not begin with {}, got '{}'",
                              reserved_prefix, printable(name)));
}

std::optional<Bytes> Task::kept_step(std::string_view name) {
  const auto step = or_fail(StepName::parse(std::string(name)));
  {
    const std::lock_guard lock(run_->mutex);
    if (!run_->steps) {
      auto& names = run_->steps.emplace();
      if (!is_first_run(claimed_))
        for (const auto& each : call(*context_, ListSteps{claimed_.id}).steps)
          names.insert(each.name.str());
    }
    if (!run_->steps->contains(step.str())) return std::nullopt;
  }
  return call(*context_, GetStep{.id = claimed_.id, .name = step});
}

Bytes Task::keep_step(std::string_view name, Bytes result) {
  const PutStep put{.id = claimed_.id,
                    .name = or_fail(StepName::parse(std::string(name))),
                    .fence = claimed_.fence,
                    .result = result.bytes,
                    .content_type = result.content_type};
  const auto reply = call(*context_, put);
  {
    const std::lock_guard lock(run_->mutex);
    run_->steps->insert(put.name.str());
  }
  // The first result of a name stays, also if another thread of the handler was faster.
  if (reply.duplicate) return call(*context_, GetStep{.id = claimed_.id, .name = put.name});
  return result;
}

}  // namespace ff
