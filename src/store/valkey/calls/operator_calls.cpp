#include "store/valkey/calls/operator_calls.hpp"

#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {
namespace {

// A record of a pause is three texts: since, by, reason. The last one may hold anything.
constexpr char record_separator = '\x1f';
constexpr std::string_view detail_prefix = "detail:";

std::optional<LanePause> parse_pause(std::string_view record) {
  const auto first = record.find(record_separator);
  const auto second = first == record.npos ? first : record.find(record_separator, first + 1);
  if (second == record.npos) return std::nullopt;
  const auto since = parse_number<std::int64_t>(record.substr(0, first));
  if (!since) return std::nullopt;
  return LanePause{.by = std::string(record.substr(first + 1, second - first - 1)),
                   .since = TimePoint{Millis{*since}},
                   .reason = std::string(record.substr(second + 1))};
}

// A caller's name becomes a part of the record.
std::string without_separator(std::string text) {
  std::erase(text, record_separator);
  return text;
}

}  // namespace

FunctionCall call_for(const core::HoldLane& op) {
  return {"ff_lane_pause",
          {keys::paused_lane(op.ns, op.lane), without_separator(op.by), op.reason,
           std::to_string(limits::paused_lanes_max),
           std::to_string(limits::paused_lanes_of_store_max)}};
}
FunctionCall call_for(const ResumeLane& op) {
  return {"ff_lane_resume", {keys::paused_lane(op.ns, op.lane)}};
}

FunctionCall call_for(const core::AppendAudit& op) {
  const auto& entry = op.entry;
  FunctionCall call{"ff_audit_append",
                    {std::to_string(op.entries_max), "who", entry.who, "from", entry.from, "what",
                     entry.what, "subject", entry.subject, "outcome", entry.outcome}};
  auto& arguments = call.arguments;
  if (entry.ns) arguments.insert(arguments.end(), {"namespace", entry.ns->str()});
  for (const auto& [name, text] : entry.details)
    arguments.insert(arguments.end(), {std::string(detail_prefix) + name, text});
  return call;
}
FunctionCall call_for(const core::TrimAudit& op) {
  return {"ff_audit_trim",
          {std::to_string(op.before.time_since_epoch().count()), std::to_string(op.max)}};
}

LanePauseReply read_answer(const core::HoldLane&, Answer& answer) {
  LanePauseReply reply{.unchanged = answer.text() == "1"};
  auto pause = parse_pause(answer.text());
  answer.expect(pause.has_value());
  reply.pause = std::move(pause);
  return reply;
}
LanePauseReply read_answer(const ResumeLane&, Answer& answer) {
  return {.unchanged = answer.text() == "0"};
}
Done read_answer(const core::AppendAudit&, Answer&) { return {}; }
std::size_t read_answer(const core::TrimAudit&, Answer& answer) {
  return static_cast<std::size_t>(answer.number());
}

std::optional<std::pair<core::PausedLanes::Key, LanePause>> parse_paused_lane(
    std::string_view name, std::string_view record) {
  const auto separator = name.find(keys::queue_separator);
  if (separator == name.npos) return std::nullopt;
  auto ns = Namespace::parse(std::string(name.substr(0, separator)));
  auto lane = LaneId::parse(std::string(name.substr(separator + 1)));
  auto pause = parse_pause(record);
  if (!ns || !lane || !pause) return std::nullopt;
  return std::pair{core::PausedLanes::Key{std::move(*ns), std::move(*lane)}, std::move(*pause)};
}

std::optional<AuditEntry> parse_audit_entry(const Reply& stored) {
  const auto* parts = stored.as_array();
  const auto* flat = parts && parts->size() == 2 ? (*parts)[1].as_array() : nullptr;
  if (!flat) return std::nullopt;
  AuditEntry entry{.id = text_in((*parts)[0])};
  const auto ms = parse_number<std::int64_t>(std::string_view(entry.id).substr(0, entry.id.find('-')));
  if (!ms) return std::nullopt;
  entry.at = TimePoint{Millis{*ms}};
  for (std::size_t i = 0; i + 1 < flat->size(); i += 2) {
    const auto name = text_in((*flat)[i]);
    auto text = text_in((*flat)[i + 1]);
    if (name == "who") entry.who = std::move(text);
    else if (name == "from") entry.from = std::move(text);
    else if (name == "what") entry.what = std::move(text);
    else if (name == "subject") entry.subject = std::move(text);
    else if (name == "outcome") entry.outcome = std::move(text);
    else if (name.starts_with(detail_prefix))
      entry.details.emplace(name.substr(detail_prefix.size()), std::move(text));
    else if (name == "namespace") {
      if (auto ns = Namespace::parse(std::move(text))) entry.ns = std::move(*ns);
    }
  }
  return entry;
}

}  // namespace ff::valkey_store
