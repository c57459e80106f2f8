// An engine's operations on lanes and on itself, and the audit log of operators' actions.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "engine/local_engine.hpp"

namespace ff {

const Caller& LocalEngine::caller_of(const EngineCall& call) {
  static const Caller program{.name = "embedded", .roles = {Role::admin}, .from = "embedded"};
  return call.caller ? *call.caller : program;
}

// ---- Lanes --------------------------------------------------------------------------------------

// The store's copy is brought up to date before the reply: no later claim of this engine finds the lane otherwise.
Async<LanePauseReply> LocalEngine::handle(PauseLane operation, const Caller& caller) {
  core::HoldLane hold{.lane = std::move(operation.lane),
                      .ns = std::move(operation.ns),
                      .reason = std::move(operation.reason),
                      .by = to_valid_utf8(caller.name, limits::audit_text_bytes_max)};
  auto reply = co_await store_->run(std::move(hold));
  FF_CO_TRY(reply);
  static_cast<void>(co_await store_->run(core::RefreshPausedLanes{}));
  co_return reply;
}

Async<LanePauseReply> LocalEngine::handle(ResumeLane operation) {
  auto reply = co_await store_->run(std::move(operation));
  FF_CO_TRY(reply);
  static_cast<void>(co_await store_->run(core::RefreshPausedLanes{}));
  co_return reply;
}

// Claims that wait look again at lanes whose pause is over.
void LocalEngine::on_paused_lanes() {
  if (closing_) return;
  const auto now = store_->paused_lanes();
  std::shared_ptr<const core::PausedLanes> before;
  {
    const std::lock_guard lock(paused_lanes_mutex_);
    before = std::exchange(paused_lanes_, now);
  }
  for (const auto& [key, pause] : before->all())
    if (!now->has(key.first, key.second)) waiting_for_work_.look_again(key.first, key.second);
}

Async<LaneList> LocalEngine::handle(ListLanes operation) {
  CountExecutions count{.ns = operation.ns};  // not inside the co_await: g++ 12 destroys it twice there
  const auto counts = co_await handle(std::move(count));
  FF_CO_TRY(counts);
  const auto workers = co_await workers_.live(operation.ns);
  FF_CO_TRY(workers);
  std::map<LaneId, LaneInfo> lanes;
  for (const auto& each : counts->counts)
    lanes[each.lane].counts.push_back({.state = each.state, .count = each.count});
  for (const auto& worker : *workers)
    for (const auto& lane : worker.lanes) ++lanes[lane].workers;
  const auto paused = store_->paused_lanes();
  for (const auto& [key, pause] : paused->all())
    if (key.first == operation.ns) lanes[key.second].pause = pause;
  LaneList list;
  auto at = operation.after ? lanes.upper_bound(*operation.after) : lanes.begin();
  for (; at != lanes.end(); ++at) {
    if (list.lanes.size() == operation.limit) {
      list.next = list.lanes.back().lane;
      break;
    }
    at->second.lane = at->first;
    list.lanes.push_back(std::move(at->second));
  }
  co_return list;
}

// ---- The caller ---------------------------------------------------------------------------------

Async<Identity> LocalEngine::handle(WhoAmI, const Caller& caller) {
  Identity identity{.name = caller.name,
                    .roles = caller.roles,
                    .ns = caller.ns,
                    .expires_at = caller.expires_at,
                    .sees_payloads = caller.sees_payloads,
                    .needs_token = caller.needs_token};
  if (!caller.csrf_token.empty()) identity.csrf_token = caller.csrf_token;
  co_return identity;
}

// ---- The audit log ------------------------------------------------------------------------------

// The holder of a waitpoint's token is known by it. None: the token is not valid.
Async<std::optional<AuditEntry>> LocalEngine::audit_entry(const AnswerWaitpoint& operation,
                                                          const Caller& caller) {
  const auto claims = co_await waitpoint_keys_.verify(operation.token);
  if (!claims) co_return std::optional<AuditEntry>{};
  auto entry = audit_entry_of(operation, caller);
  entry.ns = claims->ns;
  entry.subject = claims->execution.str();
  entry.details["waitpoint"] = claims->waitpoint.str();
  entry.who = claims->approver ? "approver " + *claims->approver : "holder of a token";
  co_return entry;
}

// An entry that cannot be kept fails nothing: the log has it.
asio::awaitable<void> LocalEngine::keep_in_audit_log(AuditEntry entry) {
  core::AppendAudit append{.entry = std::move(entry), .entries_max = options_.audit_entries_max};
  const auto& kept = append.entry;
  auto text = fmt::format("what={} subject={} who={} from={} outcome={} details={}", kept.what,
                          printable(kept.subject), printable(kept.who), kept.from, kept.outcome,
                          kept.details);
  const auto appended = co_await store_->run(std::move(append));
  if (!appended)
    log::error("audit log cannot be written ({}): {}", appended.error().message, printable(text, 1'000));
}

}  // namespace ff
