#include "store/valkey/calls/event_message.hpp"

#include <array>
#include <cmath>

#include "store/valkey/calls/fields.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {
namespace {

constexpr char separator = '\x1f';         // of the parts of a change
constexpr char change_separator = '\x1d';  // of the changes of a message
constexpr std::size_t parts_always = 15;
constexpr std::size_t parts_known = 21;  // with budgets and quotas, the version, the flow, and the fairness

constexpr char effect_separator = '\x1e';
constexpr std::string_view effects_word = "effects";  // in the place of an event's type

constexpr std::array<std::string_view, 8> timer_names{
    "lease_expiry", "delay",           "attempt_timeout",   "execution_deadline",
    "grant_expiry", "suspension_timeout", "waitpoint_expiry", "flow_deadline"};

using Parts = std::array<std::string_view, parts_known>;

// Parts behind those are of a newer version.
bool split(std::string_view text, Parts& parts) {
  for (std::size_t i = 0; i < parts_known; ++i) {
    const auto end = text.find(separator);
    parts[i] = text.substr(0, end);
    if (end == std::string_view::npos) return i + 1 >= parts_always;
    text.remove_prefix(end + 1);
  }
  return true;
}

// Of "blocked version"; older programs write the first alone.
std::optional<Version> version_in(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  return parse_number<Version>(text.substr(blank + 1));
}

std::optional<TimePoint> time_in(std::string_view text) {
  const auto ms = parse_number<std::int64_t>(text);
  return ms ? std::optional(TimePoint{Millis{*ms}}) : std::nullopt;
}

}  // namespace

std::optional<ExecutionId> parse_frames(std::string_view text) {
  constexpr std::string_view frames = "frames\x1f";
  if (!text.starts_with(frames)) return std::nullopt;
  const auto id = ExecutionId::parse(text.substr(frames.size()));
  return id ? std::optional(*id) : std::nullopt;
}

std::vector<std::string> split_csv(std::string_view csv) {
  std::vector<std::string> tokens;
  while (!csv.empty()) {
    const auto end = std::min(csv.find(','), csv.size());
    tokens.emplace_back(csv.substr(0, end));
    csv.remove_prefix(std::min(end + 1, csv.size()));
  }
  return tokens;
}

CapabilitySet capabilities_in(std::string_view csv) {
  auto set = CapabilitySet::parse(split_csv(csv));
  return set ? std::move(*set) : CapabilitySet{};
}

// Weight, blank, key.
std::optional<core::FairShare> share_in(std::string_view text) {
  const auto blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto weight = parse_number<std::uint32_t>(text.substr(0, blank));
  auto key = FairnessKey::parse(std::string(text.substr(blank + 1)));
  if (!weight || !key) return std::nullopt;
  return core::FairShare{.key = std::move(*key), .weight = *weight};
}

core::Needs needs_in(std::string_view capabilities, std::string_view budgets,
                     std::string_view quota, std::string_view fairness) {
  core::Needs needs{.capabilities = capabilities_in(capabilities),
                    .budgets = ids_in<BudgetId>(budgets)};
  std::ranges::sort(needs.budgets);
  if (const auto id = QuotaId::parse(quota)) needs.quota = *id;
  needs.share = share_in(fairness);
  return needs;
}

core::Needs needs_in(std::string_view joined) {
  // Only a share has a blank in the last part.
  std::string_view fairness;
  if (const auto last = joined.rfind(separator);
      last != std::string_view::npos && joined.find(' ', last) != std::string_view::npos) {
    fairness = joined.substr(last + 1);
    joined = joined.substr(0, last);
  }
  const auto quota = joined.rfind(separator);
  if (quota == std::string_view::npos || quota == 0) return {};
  const auto budgets = joined.rfind(separator, quota - 1);
  if (budgets == std::string_view::npos) return {};
  return needs_in(joined.substr(0, budgets), joined.substr(budgets + 1, quota - budgets - 1),
                  joined.substr(quota + 1), fairness);
}

std::int32_t priority_in(const std::string& text) {
  return static_cast<std::int32_t>(std::strtod(text.c_str(), nullptr));
}

// As placement.ready_score in the function library.
std::int64_t score_in(const std::string& priority, TimePoint queued_at) {
  constexpr double priority_step = 1e12;
  const auto gain = std::strtod(priority.c_str(), nullptr) * priority_step;
  return queued_at.time_since_epoch().count() - std::llround(gain);
}

std::optional<core::TimerKind> timer_kind_from(std::string_view name) {
  const auto* const found = std::ranges::find(timer_names, name);
  if (found == timer_names.end()) return std::nullopt;
  return static_cast<core::TimerKind>(found - timer_names.begin());
}

std::string_view name_of(core::TimerKind kind) { return timer_names[std::to_underlying(kind)]; }

namespace {

// origin, `effects`, time, subject of the flow, effects. They are carried by the end of building, which means
// nothing to those who wait.
std::optional<EventMessage> parse_effects(const Parts& parts) {
  const auto at = time_in(parts[2]);
  const auto id = ExecutionId::parse(parts[3]);
  if (!at || !id) return std::nullopt;
  EventMessage message{.origin = std::string(parts[0]), .change = {}, .indexed = {}, .is_event = false};
  message.change.event = {.type = EventType::flow_sealed, .at = *at, .id = *id, .ns = {}, .lane = {}, .kind = {}};
  message.indexed.ready.id = *id;
  auto texts = parts[4];
  while (!texts.empty()) {
    const auto end = std::min(texts.find(effect_separator), texts.size());
    if (auto effect = core::effect_from(texts.substr(0, end)))
      message.change.effects.push_back(std::move(*effect));
    texts.remove_prefix(std::min(end + 1, texts.size()));
  }
  return message;
}

std::optional<EventMessage> parse_change(std::string_view text) {
  Parts parts;
  const bool is_complete = split(text, parts);
  if (parts[1] == effects_word) return parse_effects(parts);
  if (!is_complete) return std::nullopt;
  const auto type = from_name<EventType>(parts[1]);
  const auto at = time_in(parts[2]);
  const auto id = ExecutionId::parse(parts[3]);
  auto ns = Namespace::parse(std::string(parts[4]));
  // A flow has none.
  auto lane = parts[5].empty() ? Result<LaneId>(LaneId{}) : LaneId::parse(std::string(parts[5]));
  auto kind = Kind::parse(std::string(parts[6]));
  const auto attempts = parse_number<std::uint32_t>(parts[8]);
  const auto queued_at = time_in(parts[11]);
  if (!type || !at || !id || !ns || !lane || !kind || !attempts || !queued_at) return std::nullopt;

  EventMessage message{.origin = std::string(parts[0]), .change = {}, .indexed = {}};
  auto& change = message.change;
  change.event = {.type = *type,
                  .at = *at,
                  .id = *id,
                  .ns = *ns,
                  .lane = *lane,
                  .kind = std::move(*kind),
                  // A word of other programs means that it waits for something.
                  .state = from_name<ExecutionState>(parts[7]).value_or(ExecutionState::waiting),
                  .attempts = *attempts};
  if (const auto flow = FlowId::parse(parts[19])) change.event.flow = *flow;
  change.claimable = parts[9] == "1";
  auto needs = needs_in(parts[12], parts[15], parts[16], parts[20]);
  change.required = needs.capabilities;
  if (const auto freed = QuotaTokenId::parse(parts[17]); freed && needs.quota)
    change.effects.emplace_back(core::ReleaseToken{.quota = *needs.quota, .token = *freed});
  if (*type == EventType::removed)
    for (const auto& budget : needs.budgets)
      change.effects.emplace_back(core::ForgetSpending{.budget = budget, .execution = *id});
  // A new execution may reuse the id of a removed one; the versions of that one do not count.
  if (*type != EventType::submitted && *type != EventType::flow_submitted)
    message.version = version_in(parts[18]);
  const auto timer = timer_kind_from(parts[13]);
  const auto due = time_in(parts[14]);
  if (timer && due) change.timer = core::Timer{.kind = *timer, .due = *due};
  // Without a worker and active: it has lost its worker.
  const bool lost = change.event.state == ExecutionState::active;
  message.indexed = {.ready = {.id = *id,
                               .ns = *ns,
                               .lane = *lane,
                               .kind = change.event.kind,
                               .priority = priority_in(std::string(parts[10])),
                               .queued_at = *queued_at,
                               .needs = std::move(needs)},
                     .index = {.queue = keys::queue(*ns, *lane),
                               .partition = id->partition(),
                               .index = lost ? ReadyIndex::reclaimable : ReadyIndex::eligible},
                     .score = score_in(std::string(parts[10]), *queued_at)};
  return message;
}

}  // namespace

std::vector<EventMessage> parse_events(std::string_view text) {
  std::vector<EventMessage> changes;
  while (!text.empty()) {
    const auto end = std::min(text.find(change_separator), text.size());
    if (auto change = parse_change(text.substr(0, end))) changes.push_back(std::move(*change));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return changes;
}

}  // namespace ff::valkey_store
