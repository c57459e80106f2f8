#include "store/valkey/calls/joined_calls.hpp"

#include <numeric>

#include "core/transitions/transitions.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/policy_json.hpp"
#include "store/valkey/calls/texts.hpp"

namespace ff::valkey_store {
namespace {

constexpr std::size_t answers_begin = 2;  // behind [1, OK
constexpr std::size_t values_begin = 3;   // behind [1, OK, event
constexpr char separator = '\x1f';

// Whether ff_submit_many has all arguments that it needs.
bool needs_little(const Submit& submit) {
  return !submit.delay_until && !submit.deadline && !submit.idempotency_key &&
         !submit.content_type && !submit.traceparent && submit.tags.empty() &&
         submit.policy.required_capabilities.csv().empty() && !submit.policy.attempt_timeout &&
         !submit.policy.execution_deadline && to_policy_json(submit.policy).empty();
}

}  // namespace

std::size_t JoinableCall::bytes() const {
  return std::accumulate(
      own.begin(), own.end(), std::size_t{0},
      [](std::size_t sum, const std::string& text) { return sum + text.size(); });
}

std::optional<JoinableCall> joinable_call_for(core::Create& command) {
  auto& submit = command.submit;
  if (!needs_little(submit)) return std::nullopt;
  auto digest = raw_bytes(core::request_digest(submit));
  return JoinableCall{
      .function = "ff_submit_many",
      .shared = {submit.ns.str(), submit.lane.str(), submit.kind.str(),
                 std::to_string(submit.priority), stored_retention(command)},
      .own = {sends_payload_ahead(command) ? "#" : "=" + std::move(submit.payload),
              std::move(digest),
              std::string(command.id.uuid().bytes().begin(), command.id.uuid().bytes().end())}};
}

std::optional<JoinableCall> joinable_call_for(core::LeaseGrant& command) {
  if (command.source != core::LeaseSource::ready) return std::nullopt;
  const auto& token = command.token;
  return JoinableCall{
      .function = "ff_lease_many",
      .shared = {command.worker.str(), command.capabilities.csv(), text_of(command.lease_ttl)},
      .own = {command.lease_id.str(), command.attempt_id.str(), token ? token->id.str() : "",
              token ? text_of(token->valid_until) : ""}};
}

std::optional<JoinableCall> joinable_call_for(Complete& command) {
  return JoinableCall{.function = "ff_complete_many",
                      .own = with_fence(command.fence, std::string(command.result ? "1" : "0"),
                                        std::move(command.result).value_or(""),
                                        text_or_none(command.content_type))};
}

std::vector<Result<std::vector<Reply>>> answers_of_joined(Result<std::vector<Reply>> answer,
                                                          std::size_t count) {
  std::vector<Result<std::vector<Reply>>> answers;
  answers.reserve(count);
  const bool is_whole = answer && answer->size() == count + answers_begin;
  for (std::size_t i = 0; i < count; ++i) {
    if (!answer)
      answers.emplace_back(std::unexpected(answer.error()));
    else if (!is_whole)
      answers.emplace_back(malformed("a call for several executions"));
    else
      answers.push_back(list_of(std::move((*answer)[answers_begin + i])));
  }
  return answers;
}

std::vector<Reply> lease_answer(std::vector<Reply> joined) {
  if (is_refusal(joined) || joined.size() <= values_begin) return joined;
  const auto text = text_in(joined[values_begin]);
  std::vector<Reply> answer(std::make_move_iterator(joined.begin()),
                            std::make_move_iterator(joined.begin() + values_begin));
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    answer.push_back({text.substr(begin, end - begin)});
    begin = end + 1;
  }
  std::move(joined.begin() + values_begin + 1, joined.end(), std::back_inserter(answer));
  return answer;
}

}  // namespace ff::valkey_store
