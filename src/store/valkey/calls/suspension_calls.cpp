#include "store/valkey/calls/suspension_calls.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/suspension_json.hpp"
#include "store/valkey/calls/texts.hpp"

namespace ff::valkey_store {
namespace {

constexpr char separator = '\x1f';

template <class Id>
std::string id_text(const std::optional<Id>& id) {
  return id.value_or(Id{}).str();
}

// Programs of the contract may use ids and names that ours may not.
template <class Id>
Id id_in(const std::string& text) {
  auto parsed = Id::parse(text);
  return parsed ? std::move(*parsed) : Id{};
}

void add_waitpoint(std::vector<std::string>& arguments, NewWaitpoint& waitpoint) {
  arguments.push_back(id_text(waitpoint.id));
  arguments.push_back(waitpoint.key.str());
  arguments.push_back(text_or_none(waitpoint.expires_in));
  arguments.push_back(waitpoint.question ? to_json(*waitpoint.question) : "");
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t first = 0;
  while (first < text.size()) {
    const auto end = std::min(text.find(separator, first), text.size());
    parts.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

// [id, fields]; none if it is not that.
std::optional<WaitpointInfo> read_waitpoint(std::vector<Reply> parts) {
  auto* flat = parts.size() == 2 ? parts[1].as_array() : nullptr;
  if (!flat) return std::nullopt;
  const auto id = text_in(parts[0]);
  Fields fields(std::move(*flat), "waitpoint " + id);
  WaitpointInfo waitpoint{.id = id_in<WaitpointId>(id),
                          .key = id_in<WaitpointKey>(fields.text("waitpoint_key")),
                          .state = fields.name_of<WaitpointState>("state"),
                          .created_at = fields.time("created_at"),
                          .expires_at = fields.optional_time("expires_at"),
                          .closed_at = fields.optional_time("closed_at"),
                          .close_reason = fields.optional_text("close_reason"),
                          .signals = fields.number<std::uint32_t>("signal_count"),
                          .counted = fields.number<std::uint32_t>("matched_signal_count")};
  if (fields.has("question")) waitpoint.question = read_question(fields.text("question"));
  if (fields.error()) return std::nullopt;
  return waitpoint;
}

IssuedWaitpoint read_issued(Answer& answer) {
  auto waitpoint = read_waitpoint(answer.list());
  answer.expect(waitpoint.has_value());
  return {.info = std::move(waitpoint).value_or(WaitpointInfo{})};
}

// Words of other programs that mean the same, or that mean a failure.
TimeoutAction action_of(std::string_view word) {
  if (word == "auto_resume_with_timeout_signal") return TimeoutAction::auto_resume;
  return from_name<TimeoutAction>(word).value_or(TimeoutAction::fail);
}

std::vector<std::size_t> numbers_in(Reply& reply) {
  std::vector<std::size_t> numbers;
  if (auto* list = reply.as_array())
    for (auto& each : *list)
      numbers.push_back(parse_number<std::size_t>(text_in(each)).value_or(0));
  return numbers;
}

Result<core::Suspension> read_suspension(Fields fields, const std::vector<std::size_t>& sizes) {
  core::Suspension suspension{.id = id_in<SuspensionId>(fields.text("suspension_id")),
                              .lease_id = {},
                              .attempt_index = fields.number<std::uint32_t>("attempt_index"),
                              .reason = from_name<SuspendReason>(fields.text("reason_code"))
                                            .value_or(SuspendReason::waiting_for_signal),
                              .since = fields.time("created_at"),
                              .timeout_at = fields.optional_time("timeout_at"),
                              .on_timeout = action_of(fields.text("timeout_behavior")),
                              .escalated = fields.has("escalated"),
                              .closed_at = fields.optional_time("closed_at"),
                              .close_reason = fields.text("close_reason")};
  auto condition = read_condition(fields.text("condition"), sizes);
  if (!condition) fields.wrong("condition", fields.text("condition"));
  if (fields.error()) return std::unexpected(*fields.error());
  suspension.condition = std::move(condition->condition);
  suspension.tally = std::move(condition->tally);
  for (const auto& id : split(fields.text("waitpoints")))
    suspension.waitpoints.push_back(id_in<WaitpointId>(id));
  return suspension;
}

ReceivedSignal read_signal(const std::string& id, Fields& fields, std::string payload) {
  ReceivedSignal signal{
      .id = id_in<SignalId>(id),
      .name = id_in<SignalName>(fields.text("signal_name")),
      .source = {.type = fields.text("source_type"), .identity = fields.text("source_identity")},
      .category = fields.text("signal_category"),
      .correlation_id = fields.text("correlation_id"),
      .accepted_at = fields.time("accepted_at"),
      .effect = fields.name_of<SignalEffect>("observed_effect"),
      .content_type = fields.optional_id<ContentType>("content_type"),
      .payload = std::move(payload)};
  if (fields.has("target_waitpoint_id"))
    signal.waitpoint = id_in<WaitpointId>(fields.text("target_waitpoint_id"));
  if (fields.has("counted_for"))
    signal.counted_for = id_in<SuspensionId>(fields.text("counted_for"));
  return signal;
}

// Time, bytes and content type.
std::optional<StepInfo> read_step(std::string name, const std::string& text) {
  const auto parts = split(text);
  auto parsed = StepName::parse(std::move(name));
  if (!parsed || parts.size() < 2) return std::nullopt;
  const auto at = parse_number<std::int64_t>(parts[0]);
  const auto bytes = parse_number<std::uint64_t>(parts[1]);
  if (!at || !bytes) return std::nullopt;
  StepInfo step{.name = std::move(*parsed), .at = TimePoint{Millis{*at}}, .bytes = *bytes};
  if (parts.size() > 2)
    if (auto type = ContentType::parse(parts[2])) step.content_type = std::move(*type);
  return step;
}

}  // namespace

// ---- Calls ---------------------------------------------------------------------------------------

FunctionCall call_for(Suspend& command) {
  auto arguments = with_fence(
      command.fence, id_text(command.suspension_id), std::string(to_string(command.reason)),
      text_or_none(command.timeout), std::string(to_string(command.on_timeout)),
      text_of(command.resume_delay), 
      std::string(core::check_condition(command.condition, core::terms_of(command)) ? "1" : "0"),
      to_json(command.condition), std::move(command.state));
  for (auto& waitpoint : command.waitpoints) add_waitpoint(arguments, waitpoint);
  return {"ff_suspend", std::move(arguments)};
}

FunctionCall call_for(Resume& command) {
  return {"ff_resume", {std::move(command.reason), text_of(command.delay)}};
}

FunctionCall call_for(SendSignal& command) {
  return {"ff_send_signal",
          {id_text(command.signal_id), command.name.str(), text_or_none(command.waitpoint),
           std::move(command.payload), text_or_none(command.content_type),
           std::move(command.source.type), std::move(command.source.identity),
           std::move(command.category), std::move(command.correlation_id),
           text_or_none(command.idempotency_key), text_of(command.dedup_window)}};
}

FunctionCall call_for(CreateWaitpoint& command) {
  auto arguments = with_fence(command.fence);
  add_waitpoint(arguments, command.waitpoint);
  return {"ff_create_waitpoint", std::move(arguments)};
}

FunctionCall call_for(CloseWaitpoint& command) {
  return {"ff_shut_waitpoint", {command.waitpoint.str(), std::move(command.reason)}};
}

FunctionCall call_for(PutStep& command) {
  return {"ff_put_step",
          with_fence(command.fence, command.name.str(), std::move(command.result),
                     text_or_none(command.content_type), std::to_string(limits::steps_max),
                     std::to_string(limits::steps_bytes_max))};
}

FunctionCall call_for(const GetSuspension&) { return {"ff_get_suspension"}; }

FunctionCall call_for(const GetSignals& query) {
  return {"ff_get_signals",
          {std::to_string(query.from), std::to_string(query.limit),
           std::to_string(limits::signals_page_bytes_max)}};
}

FunctionCall call_for(const core::FindSignal& query) { return {"ff_find_signal", {query.key.str()}}; }
FunctionCall call_for(const GetStep& query) { return {"ff_get_step", {query.name.str()}}; }
FunctionCall call_for(const ListSteps&) { return {"ff_list_steps"}; }

// ---- Replies --------------------------------------------------------------------------------------

SuspendReply read_answer(const Suspend&, Answer& answer) {
  SuspendReply reply{.state = answer.word<ExecutionState>(), .suspension_id = {}};
  reply.suspension_id = answer.id<SuspensionId>();
  reply.satisfied = answer.text() == "1";
  reply.timeout_at = answer.optional_time();
  while (!answer.at_end()) reply.waitpoints.push_back(read_issued(answer));
  return reply;
}

EndReply read_answer(const Resume&, Answer& answer) { return {answer.word<ExecutionState>()}; }

SignalReply read_answer(const SendSignal&, Answer& answer) {
  SignalReply reply{.signal_id = {}, .duplicate = answer.duplicate()};
  reply.state = answer.word<ExecutionState>();
  reply.signal_id = answer.id<SignalId>();
  reply.effect = answer.word<SignalEffect>();
  return reply;
}

CreateWaitpointReply read_answer(const CreateWaitpoint&, Answer& answer) {
  return {.waitpoint = read_issued(answer), .duplicate = answer.duplicate()};
}

CloseWaitpointReply read_answer(const CloseWaitpoint&, Answer& answer) {
  return {.closed = answer.text() == "1"};
}

PutStepReply read_answer(const PutStep&, Answer& answer) {
  return {.duplicate = answer.duplicate()};
}

Result<SuspensionReply> read_list(const GetSuspension& query, std::vector<Reply> parts) {
  constexpr std::size_t first_waitpoint = 4;
  auto* flat = parts.size() >= first_waitpoint ? parts[1].as_array() : nullptr;
  if (!flat) return malformed("ff_get_suspension");
  core::Waits waits;
  core::WaitDetails details{.state = text_in(parts[3])};
  if (!flat->empty()) {
    auto suspension =
        read_suspension(Fields(std::move(*flat), "the suspension of " + query.id.str()),
                        numbers_in(parts[2]));
    FF_TRY(suspension);
    waits.suspension = std::move(*suspension);
  }
  for (auto i = first_waitpoint; i < parts.size(); ++i) {
    auto* pair = parts[i].as_array();
    auto waitpoint = pair ? read_waitpoint(std::move(*pair)) : std::nullopt;
    if (!waitpoint) return malformed("ff_get_suspension");
    waits.waitpoints.push_back(std::move(*waitpoint));
  }
  return core::info_of(waits, details, text_in(parts[0]) == "1");
}

Result<SignalPage> read_list(const GetSignals& query, std::vector<Reply> parts) {
  if (parts.empty() || parts.size() % 3 != 1) return malformed("ff_get_signals");
  SignalPage page;
  page.next = parse_number<std::uint32_t>(text_in(parts[0]));
  auto index = query.from;
  for (std::size_t i = 1; i < parts.size(); i += 3) {
    auto* flat = parts[i + 1].as_array();
    auto* payload = parts[i + 2].as_text();
    if (!flat || !payload) return malformed("ff_get_signals");
    const auto id = text_in(parts[i]);
    Fields fields(std::move(*flat), "signal " + id);
    page.signals.push_back(read_signal(id, fields, std::move(*payload)));
    page.signals.back().index = index++;
    if (fields.error()) return std::unexpected(*fields.error());
  }
  return page;
}

Result<std::optional<core::FoundSignal>> read_list(const core::FindSignal&,
                                                   std::vector<Reply> parts) {
  if (parts.empty()) return std::nullopt;
  const auto effect =
      parts.size() == 2 ? from_name<SignalEffect>(text_in(parts[1])) : std::nullopt;
  if (!effect) return malformed("ff_find_signal");
  return core::FoundSignal{.name = id_in<SignalName>(text_in(parts[0])), .effect = *effect};
}

Result<Bytes> read_list(const GetStep&, std::vector<Reply> parts) {
  auto* result = parts.size() == 2 ? parts[1].as_text() : nullptr;
  if (!result) return malformed("ff_get_step");
  Bytes bytes{.bytes = std::move(*result)};
  if (const auto type = text_in(parts[0]); !type.empty())
    if (auto parsed = ContentType::parse(type)) bytes.content_type = std::move(*parsed);
  return bytes;
}

Result<StepList> read_list(const ListSteps&, std::vector<Reply> parts) {
  StepList list;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    auto step = read_step(text_in(parts[i]), text_in(parts[i + 1]));
    if (!step) return malformed("ff_list_steps");
    list.steps.push_back(std::move(*step));
  }
  std::ranges::sort(list.steps, {}, &StepInfo::name);
  return list;
}

}  // namespace ff::valkey_store
