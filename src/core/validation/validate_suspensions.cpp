// Validation of suspensions, waitpoints, signals and steps.
#include <set>

#include "base/try.hpp"
#include "core/suspensions/condition.hpp"
#include "core/validation/checks.hpp"
#include "core/validation/validate.hpp"

namespace ff::core {
namespace {

Result<void> question_valid(const Question& question) {
  FF_TRY(all_of(
      {short_text("title", question.title, limits::question_bytes_max),
       short_text("text", question.text, limits::question_bytes_max),
       in_range("choices", question.choices.size(), std::size_t{0}, limits::choices_max),
       in_range("approvers", question.approvers.size(), std::size_t{0}, limits::approvers_max)}));
  std::set<SignalName> signals;
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    const auto& choice = question.choices[i];
    FF_TRY(inside(fmt::format("choices[{}]", i),
                  all_of({present("signal", choice.signal),
                          short_text("label", choice.label, limits::choice_bytes_max)})));
    if (!signals.insert(choice.signal).second)
      return fail_field(Errc::invalid_input, "choices",
                        fmt::format("choices has two of the signal {}", choice.signal.str()));
  }
  std::set<std::string> names;
  for (const auto& name : question.approvers) {
    FF_TRY(all_of(
        {not_empty("approvers", name), short_text("approvers", name, limits::approver_bytes_max)}));
    if (!names.insert(name).second)
      return fail_field(Errc::invalid_input, "approvers",
                        fmt::format("approvers names {} twice", name));
  }
  return {};
}

Result<void> waitpoint_valid(const NewWaitpoint& waitpoint) {
  FF_TRY(all_of({present("key", waitpoint.key),
                 duration_in_range("expires_in_ms", waitpoint.expires_in, Millis{1})}));
  return waitpoint.question ? inside("question", question_valid(*waitpoint.question))
                            : Result<void>{};
}

Result<void> signal_texts_valid(const SignalSource& source, std::string_view category,
                                std::string_view correlation_id) {
  constexpr auto bytes_max = limits::signal_text_bytes_max;
  // Only a waitpoint's token proves who its holder is.
  if (source.type == "approver" || source.type == "token")
    return fail_field(
        Errc::invalid_input, "source.type",
        fmt::format("source.type must not be {}: answers with a waitpoint's token have it",
                    source.type));
  return all_of({short_text("source.type", source.type, bytes_max),
                 short_text("source.identity", source.identity, bytes_max),
                 short_text("category", category, bytes_max),
                 short_text("correlation_id", correlation_id, bytes_max)});
}

Result<void> signal_name_valid(std::string_view field, const SignalName& name) {
  if (name.str() == "*")
    return fail_field(
        Errc::invalid_input, field,
        fmt::format("{} must not be *, which stands for any name in a condition", field));
  return present(field, name);
}

Result<void> signal_key_valid(const std::optional<SignalKey>& key) {
  if (key && key->str().starts_with("answer:"))
    return fail_field(Errc::invalid_input, "idempotency_key",
                      "idempotency_key must not begin with answer:, as the keys of answers with a "
                      "waitpoint's token do");
  return present("idempotency_key", key);
}

Result<void> dedup_window_valid(Millis window) {
  return duration_in_range("dedup_window_ms", window, Millis{1}, limits::duration_max);
}

}  // namespace

Result<void> validate(const Suspend& operation, PartitionIndex partition_count) {
  FF_TRY(all_of({
      validate_id(operation.id, partition_count),
      in_range("waitpoints", operation.waitpoints.size(), std::size_t{0}, limits::waitpoints_max),
      duration_in_range("timeout_ms", operation.timeout, Millis{1}),
      duration_in_range("resume_delay_ms", operation.resume_delay, Millis{0}, limits::duration_max),
      fits("handler_state", operation.state.size(), limits::suspension_state_bytes_max),
  }));
  std::vector<WaitpointKey> keys;
  for (std::size_t i = 0; i < operation.waitpoints.size(); ++i) {
    const auto& waitpoint = operation.waitpoints[i];
    FF_TRY(inside(fmt::format("waitpoints[{}]", i), waitpoint_valid(waitpoint)));
    if (std::ranges::find(keys, waitpoint.key) != keys.end())
      return fail_field(Errc::invalid_input, "waitpoints",
                        fmt::format("waitpoints has two with the key {}", waitpoint.key.str()));
    keys.push_back(waitpoint.key);
  }
  return check_condition(operation.condition, terms_of(operation));
}

Result<void> validate(const CreateWaitpoint& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), waitpoint_valid(operation.waitpoint)});
}

Result<void> validate(const CloseWaitpoint& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count),
                 short_text("reason", operation.reason, limits::reason_bytes_max)});
}

Result<void> validate(const ListWaitpoints& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count),
                 in_range("limit", operation.limit, 1u, limits::list_page_max)});
}

Result<void> validate(const Resume& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count),
                 short_text("reason", operation.reason, limits::reason_bytes_max),
                 duration_in_range("delay_ms", operation.delay, Millis{0}, limits::duration_max)});
}

Result<void> validate(const SendSignal& operation, PartitionIndex partition_count) {
  return all_of({
      validate_id(operation.id, partition_count),
      signal_name_valid("name", operation.name),
      present("content_type", operation.content_type),
      signal_key_valid(operation.idempotency_key),
      fits("payload", operation.payload.size(), limits::signal_bytes_max),
      signal_texts_valid(operation.source, operation.category, operation.correlation_id),
      dedup_window_valid(operation.dedup_window),
  });
}

Result<void> validate(const DeliverSignal& operation, PartitionIndex partition_count) {
  if (operation.token.empty())
    return fail_field(Errc::missing_token, "waitpoint_token", "waitpoint_token must not be empty");
  return all_of({
      validate_id(operation.id, partition_count),
      signal_name_valid("signal_name", operation.name),
      signal_key_valid(operation.idempotency_key),
      fits("payload", operation.payload.size(), limits::signal_bytes_max),
      signal_texts_valid(operation.source, operation.category, operation.correlation_id),
      dedup_window_valid(operation.dedup_window),
  });
}

Result<void> validate(const GetSignals& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count),
                 in_range("limit", operation.limit, 1u, limits::list_page_max)});
}

Result<void> validate(const AnswerWaitpoint& operation, PartitionIndex) {
  if (!operation.payload.empty() && !operation.comment.empty())
    return fail_field(Errc::invalid_input, "comment", "give either a payload or a comment");
  return all_of({
      signal_name_valid("signal", operation.signal),
      present("content_type", operation.content_type),
      fits("payload", operation.payload.size(), limits::signal_bytes_max),
      short_text("comment", operation.comment, limits::reason_bytes_max),
  });
}

Result<void> validate(const PutStep& operation, PartitionIndex partition_count) {
  return all_of({
      validate_id(operation.id, partition_count),
      present("name", operation.name),
      present("content_type", operation.content_type),
      fits("result", operation.result.size(), limits::step_bytes_max),
  });
}

Result<void> validate(const GetStep& operation, PartitionIndex partition_count) {
  return all_of({validate_id(operation.id, partition_count), present("name", operation.name)});
}

}  // namespace ff::core
