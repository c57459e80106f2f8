#include "store/valkey/calls/resource_calls.hpp"

#include "core/budgets/budget.hpp"
#include "core/quotas/quota.hpp"
#include "core/refusals.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/event_message.hpp"
#include "store/valkey/calls/fields.hpp"

namespace ff::valkey_store {
namespace {

constexpr char lane_separator = '\x1e';

std::string number_text(std::uint64_t number) { return std::to_string(number); }
std::string number_text(Millis duration) { return std::to_string(duration.count()); }
std::string flag_text(bool flag) { return flag ? "1" : "0"; }
std::string incarnation_text(const std::optional<IncarnationId>& incarnation) {
  return incarnation ? incarnation->str() : std::string{};
}

template <class Name>
std::string name_text(Name name) {
  return std::string(to_string(name));
}

void add_limits(std::vector<std::string>& arguments, std::string_view kind, const Amounts& limits) {
  for (const auto& [dimension, limit] : limits) {
    arguments.push_back(fmt::format("{}:{}", kind, dimension));
    arguments.push_back(number_text(limit));
  }
}

std::string joined(const std::vector<LaneId>& lanes) {
  std::string text;
  for (const auto& lane : lanes) {
    if (!text.empty()) text += lane_separator;
    text += lane.str();
  }
  return text;
}

}  // namespace

// ---- Calls ---------------------------------------------------------------------------------------

FunctionCall call_for(const CreateBudget& op, bool room) {
  const auto& spec = op.spec;
  std::vector<std::string> arguments{
      flag_text(room),
      op.ns.str(),
      spec.scope_type,
      spec.scope_id,
      name_text(spec.enforcement),
      name_text(spec.on_hard_limit),
      name_text(spec.on_soft_limit),
      spec.reset_interval ? number_text(*spec.reset_interval) : "",
  };
  add_limits(arguments, "hard", spec.hard_limits);
  add_limits(arguments, "soft", spec.soft_limits);
  return {"ff_budget_create", std::move(arguments)};
}

FunctionCall call_for(const GetBudget&) { return {"ff_budget_get"}; }

FunctionCall call_for(const ReportUsage& op) {
  std::vector<std::string> arguments{op.dedup_key ? op.dedup_key->str() : "",
                                     op.execution ? op.execution->str() : ""};
  for (const auto& [dimension, amount] : op.amounts) {
    arguments.push_back(dimension);
    arguments.push_back(number_text(amount));
  }
  return {"ff_budget_report", std::move(arguments)};
}

FunctionCall call_for(const ReleaseUsage& op) {
  return {"ff_budget_release", {op.execution.str()}};
}
FunctionCall call_for(const ResetBudget&) { return {"ff_budget_reset", {"0"}, true}; }
FunctionCall call_for(const DeleteBudget&) { return {"ff_budget_delete", {}, true}; }
FunctionCall call_for(const core::CheckBudget&) { return {"ff_budget_check"}; }
FunctionCall call_for(const core::ResetIfDue&) { return {"ff_budget_reset", {"1"}}; }
FunctionCall call_for(const core::ForgetSpending& op) {
  return {"ff_budget_forget", {op.execution.str()}};
}

FunctionCall call_for(const CreateQuota& op, bool room) {
  const auto& spec = op.spec;
  return {"ff_quota_create",
          {flag_text(room), op.ns.str(), number_text(spec.window),
           number_text(spec.max_per_window.value_or(0)),
           number_text(spec.max_concurrent.value_or(0)), number_text(spec.jitter)}};
}

FunctionCall call_for(const GetQuota&) { return {"ff_quota_get"}; }
FunctionCall call_for(const DeleteQuota&) { return {"ff_quota_delete"}; }
FunctionCall call_for(const core::Admit& op) {
  return {"ff_quota_admit", {op.token.str(), op.execution.str()}};
}
FunctionCall call_for(const core::ReleaseToken& op) {
  return {"ff_quota_release", {op.token.str(), flag_text(op.unused)}};
}

FunctionCall call_for(const RegisterWorker& op) {
  return {"ff_worker_register",
          {op.worker.str(), joined(op.lanes), op.capabilities.csv(), number_text(op.ttl),
           std::to_string(limits::workers_max), incarnation_text(op.incarnation)}};
}
FunctionCall call_for(const HeartbeatWorker& op) {
  return {"ff_worker_heartbeat", {op.worker.str(), incarnation_text(op.incarnation)}};
}
FunctionCall call_for(const DeregisterWorker& op) {
  return {"ff_worker_deregister", {op.worker.str(), incarnation_text(op.incarnation)}};
}
FunctionCall call_for(const DrainWorker& op) {
  return {"ff_worker_drain", {op.worker.str(), flag_text(op.draining)}};
}
FunctionCall call_for(const core::LiveWorkers&) { return {"ff_worker_list"}; }

// ---- Replies --------------------------------------------------------------------------------------

namespace {

// Whole numbers above zero; other programs may have written something else, which counts for nothing.
void add_amount(Amounts& amounts, std::string dimension, std::string_view text) {
  if (const auto amount = parse_number<std::uint64_t>(text); amount && *amount > 0)
    amounts[std::move(dimension)] = *amount;
}

std::optional<Breach> read_breach(Answer& answer) {
  if (answer.at_end()) return std::nullopt;
  Breach breach{.dimension = answer.text()};
  breach.usage = static_cast<std::uint64_t>(answer.number());
  breach.limit = static_cast<std::uint64_t>(answer.number());
  return breach;
}

Amounts read_amounts(Answer& answer) {
  Amounts amounts;
  while (!answer.at_end()) {
    auto dimension = answer.text();
    add_amount(amounts, std::move(dimension), answer.text());
  }
  return amounts;
}

// Words that only other programs use count as the strictest that does not end anything.
constexpr auto unknown_on_hard_limit = OnHardLimit::reject;

BudgetSpec read_spec(Fields& fields, const std::vector<Reply>& limits) {
  BudgetSpec spec{
      .scope_type = fields.text("scope_type"),
      .scope_id = fields.text("scope_id"),
      .enforcement =
          from_name<Enforcement>(fields.text("enforcement_mode")).value_or(Enforcement::strict),
      .on_hard_limit =
          from_name<OnHardLimit>(fields.text("on_hard_limit")).value_or(unknown_on_hard_limit),
      .on_soft_limit =
          from_name<OnSoftLimit>(fields.text("on_soft_limit")).value_or(OnSoftLimit::warn)};
  if (const auto interval = fields.optional_millis("reset_interval_ms");
      interval && *interval > Millis{0})
    spec.reset_interval = *interval;
  constexpr std::string_view hard = "hard:", soft = "soft:";
  for (std::size_t i = 0; i + 1 < limits.size(); i += 2) {
    const auto name = text_in(limits[i]);
    if (name.starts_with(hard))
      add_amount(spec.hard_limits, name.substr(hard.size()), text_in(limits[i + 1]));
    if (name.starts_with(soft))
      add_amount(spec.soft_limits, name.substr(soft.size()), text_in(limits[i + 1]));
  }
  return spec;
}

Namespace read_namespace(Fields& fields) {
  return fields.optional_id<Namespace>("namespace").value_or(default_namespace());
}

// A reconciler of other programs keeps a field of its own beside the dimensions.
Amounts read_usage(const std::vector<Reply>& flat) {
  Amounts usage;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2)
    add_amount(usage, text_in(flat[i]), text_in(flat[i + 1]));
  usage.erase("breached_at");
  return usage;
}

WorkerInfo read_worker(const Namespace& ns, Answer& answer) {
  WorkerInfo info{.worker = answer.id<WorkerId>(),
                  .ns = ns,
                  .lanes = {},
                  .registered_at = {},
                  .last_seen_at = {},
                  .expires_at = {}};
  auto lanes = answer.text();
  for (std::size_t from = 0; from < lanes.size();) {
    const auto end = std::min(lanes.find(lane_separator, from), lanes.size());
    auto lane = LaneId::parse(lanes.substr(from, end - from));
    answer.expect(lane.has_value());
    if (lane) info.lanes.push_back(std::move(*lane));
    from = end + 1;
  }
  info.capabilities = capabilities_in(answer.text());
  info.draining = answer.text() == "1";
  info.registered_at = answer.time();
  info.last_seen_at = answer.time();
  info.expires_at = answer.time();
  answer.text();  // ttl_ms
  return info;
}

RegisterReply read_registered(Answer& answer) {
  RegisterReply reply{.known = answer.text() == "1", .draining = {}, .expires_at = {}};
  reply.draining = answer.text() == "1";
  reply.expires_at = answer.time();
  return reply;
}

core::AdmitReply read_rate_refusal(const core::Admit& op, Answer& answer) {
  const auto room_at = answer.time();
  QuotaSpec spec{.max_per_window = static_cast<std::uint64_t>(answer.number())};
  spec.window = Millis{answer.number()};
  spec.jitter = Millis{std::max<std::int64_t>(answer.number(), 0)};
  return {.refusal = core::QuotaRefusal::rate,
          .detail = core::rate_detail(op.quota, spec),
          .retry_at = room_at + core::jitter_of(spec, op.token)};
}

}  // namespace

CreateBudgetReply read_answer(const CreateBudget& op, Answer& answer) {
  return {.id = *op.id, .duplicate = answer.duplicate()};
}

BudgetInfo read_answer(const GetBudget& op, Answer& answer) {
  Fields fields(answer.list(), fmt::format("budget {}", op.id.str()));
  const auto limits = answer.list();
  const auto usage = answer.list();
  BudgetInfo info{.id = op.id,
                  .ns = read_namespace(fields),
                  .spec = read_spec(fields, limits),
                  .usage = read_usage(usage),
                  .breach_count = fields.number<std::uint64_t>("breach_count"),
                  .soft_breach_count = fields.number<std::uint64_t>("soft_breach_count"),
                  .last_breach_at = fields.optional_time("last_breach_at"),
                  .last_breach_dimension = fields.optional_text("last_breach_dim"),
                  .reset_count = fields.number<std::uint64_t>("reset_count"),
                  .last_reset_at = fields.optional_time("last_reset_at"),
                  .next_reset_at = answer.optional_time(),
                  .created_at = fields.time("created_at")};
  info.exhausted = read_breach(answer);
  answer.expect(!fields.error());
  return info;
}

UsageReply read_answer(const ReportUsage& op, Answer& answer) {
  UsageReply reply{.outcome = answer.word<UsageOutcome>()};
  reply.breach = read_breach(answer);
  if (!op.fence || reply.outcome != UsageOutcome::hard_breach) return reply;
  reply.action = from_name<OnHardLimit>(answer.text()).value_or(unknown_on_hard_limit);
  const bool exhausted = answer.text() == "1";
  const auto now = answer.time();
  const auto next_reset_at = answer.optional_time();
  if (reply.action == OnHardLimit::suspend && !exhausted)
    reply.resume_at = core::resume_time(next_reset_at, now);
  return reply;
}

ReleaseUsageReply read_answer(const ReleaseUsage&, Answer& answer) {
  return {.released = read_amounts(answer)};
}
ResetBudgetReply read_answer(const ResetBudget&, Answer& answer) {
  return {.next_reset_at = answer.optional_time()};
}
Done read_answer(const DeleteBudget&, Answer&) { return {}; }

core::BudgetCheck read_answer(const core::CheckBudget&, Answer& answer) {
  core::BudgetCheck check{.next_reset_at = answer.optional_time()};
  check.breach = read_breach(answer);
  return check;
}

ResetBudgetReply read_answer(const core::ResetIfDue&, Answer& answer) {
  return {.next_reset_at = answer.optional_time()};
}
Done read_answer(const core::ForgetSpending&, Answer&) { return {}; }

CreateQuotaReply read_answer(const CreateQuota& op, Answer& answer) {
  return {.id = *op.id, .duplicate = answer.duplicate()};
}

QuotaInfo read_answer(const GetQuota& op, Answer& answer) {
  Fields fields(answer.list(), fmt::format("quota {}", op.id.str()));
  QuotaInfo info{.id = op.id,
                 .ns = read_namespace(fields),
                 .spec = {.window = Millis{answer.number()},
                          .jitter = fields.optional_millis("jitter_ms").value_or(Millis{0})},
                 .created_at = fields.time("created_at")};
  if (const auto rate = fields.number<std::uint64_t>("max_requests_per_window"); rate > 0)
    info.spec.max_per_window = rate;
  if (const auto cap = fields.number<std::uint64_t>("active_concurrency_cap"); cap > 0)
    info.spec.max_concurrent = cap;
  info.in_window = static_cast<std::uint64_t>(answer.number());
  info.running = static_cast<std::uint64_t>(answer.number());
  if (!answer.at_end()) info.next_start_at = answer.time();
  answer.expect(!fields.error());
  return info;
}

Done read_answer(const DeleteQuota&, Answer&) { return {}; }

core::AdmitReply read_answer(const core::Admit& op, Answer& answer) {
  const auto word = answer.text();
  if (word == "admitted")
    return {.token = core::QuotaToken{.id = op.token,
                                      .valid_until = answer.time() + limits::quota_token_valid}};
  if (word == "rate") return read_rate_refusal(op, answer);
  answer.expect(word == "concurrency");
  const QuotaSpec spec{.max_concurrent = static_cast<std::uint64_t>(answer.number())};
  return {.refusal = core::QuotaRefusal::concurrency,
          .detail = core::concurrency_detail(op.quota, spec)};
}

Done read_answer(const core::ReleaseToken&, Answer&) { return {}; }

RegisterReply read_answer(const RegisterWorker&, Answer& answer) { return read_registered(answer); }
RegisterReply read_answer(const HeartbeatWorker&, Answer& answer) {
  return read_registered(answer);
}
Done read_answer(const DeregisterWorker&, Answer&) { return {}; }
WorkerInfo read_answer(const DrainWorker& op, Answer& answer) { return read_worker(op.ns, answer); }

std::vector<WorkerInfo> read_answer(const core::LiveWorkers& op, Answer& answer) {
  std::vector<WorkerInfo> workers;
  while (!answer.at_end()) workers.push_back(read_worker(op.ns, answer));
  std::ranges::sort(workers, {}, &WorkerInfo::worker);
  return workers;
}

std::unexpected<Error> refused(const ResourceContext& context, const std::vector<Reply>& reply) {
  namespace refusals = core::refusals;
  const auto name = reply.size() > 1 ? text_in(reply[1]) : std::string{};
  const auto code = errc_from_name(name);
  const auto* budget = std::get_if<BudgetId>(&context.subject);
  const auto* quota = std::get_if<QuotaId>(&context.subject);
  switch (code.value_or(Errc::internal)) {
    case Errc::budget_not_found:
      if (budget) return refusals::not_found(*budget);
      break;
    case Errc::quota_not_found:
      if (quota) return refusals::not_found(*quota);
      break;
    case Errc::worker_not_found:
      if (context.worker) return refusals::not_found(*context.worker, context.ns);
      break;
    case Errc::worker_id_in_use: {
      const auto number_at = [&](std::size_t at) {
        return reply.size() > at ? parse_number<std::int64_t>(text_in(reply[at])) : std::nullopt;
      };
      const auto held_until = number_at(2);
      const auto wait = number_at(3);
      if (context.worker && held_until && wait)
        return refusals::worker_id_in_use(*context.worker, context.ns,
                                          TimePoint{Millis{*held_until}}, Millis{*wait});
      break;
    }
    case Errc::duplicate_mismatch:
      if (budget && context.dedup_key)
        return refusals::duplicate_mismatch(*budget, *context.dedup_key);
      if (budget) return refusals::duplicate_mismatch(*budget);
      if (quota) return refusals::duplicate_mismatch(*quota);
      break;
    case Errc::resource_exhausted:
      if (budget) return refusals::too_many_budgets(context.ns);
      if (quota) return refusals::too_many_quotas(context.ns);
      if (std::holds_alternative<OfStore>(context.subject)) {
        const bool of_store = reply.size() > 2 && text_in(reply[2]) == "store";
        if (of_store) return refusals::too_many_paused_lanes();
        return refusals::too_many_paused_lanes(context.ns);
      }
      return refusals::too_many_workers(context.ns);
    case Errc::invalid_input:
      if (budget && reply.size() > 2 && text_in(reply[2]) == "dimensions")
        return refusals::too_many_dimensions(*budget);
      if (budget && reply.size() > 2) return refusals::too_much_usage(*budget, text_in(reply[2]));
      break;
    default: break;
  }
  return fail(Errc::internal,
              fmt::format("the function library refused an operation as '{}', which "
                          "this version does not know",
                          name));
}

std::optional<core::HeldToken> parse_holder(const std::string& text, const std::string& record) {
  const auto token = QuotaTokenId::parse(text);
  const auto blank = record.rfind(' ');
  if (!token || blank == std::string::npos) return std::nullopt;
  const auto execution = ExecutionId::parse(record.substr(0, blank));
  const auto at = parse_number<std::int64_t>(std::string_view(record).substr(blank + 1));
  if (!execution || !at) return std::nullopt;
  return core::HeldToken{
      .token = *token, .execution = *execution, .admitted_at = TimePoint{Millis{*at}}};
}

std::optional<store::Opening> parse_opening(std::string_view text) {
  constexpr char separator = '\x1f';
  const auto first = text.find(separator);
  const auto second = first == std::string_view::npos ? first : text.find(separator, first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto family = text.substr(0, first);
  auto ns = Namespace::parse(std::string(text.substr(first + 1, second - first - 1)));
  const auto id = Uuid::parse(text.substr(second + 1));
  if (!ns || !id) return std::nullopt;
  if (family == "budget") return store::Opening{.ns = std::move(*ns), .of = BudgetId{*id}};
  if (family == "quota") return store::Opening{.ns = std::move(*ns), .of = QuotaId{*id}};
  return std::nullopt;
}

}  // namespace ff::valkey_store
