// Operations on paused lanes and the audit log as function calls, as resource_calls.hpp has those on budgets.
#pragma once

#include "store/valkey/calls/calls.hpp"

namespace ff::valkey_store {

FunctionCall call_for(const core::HoldLane& op);
FunctionCall call_for(const ResumeLane& op);
FunctionCall call_for(const core::AppendAudit& op);
FunctionCall call_for(const core::TrimAudit& op);

LanePauseReply read_answer(const core::HoldLane& op, Answer& answer);
LanePauseReply read_answer(const ResumeLane& op, Answer& answer);
Done read_answer(const core::AppendAudit& op, Answer& answer);
std::size_t read_answer(const core::TrimAudit& op, Answer& answer);

// A lane and its pause as they are stored; none if something else wrote them.
std::optional<std::pair<core::PausedLanes::Key, LanePause>> parse_paused_lane(
    std::string_view name, std::string_view record);

// An entry of the stream; none if something else wrote it.
std::optional<AuditEntry> parse_audit_entry(const Reply& stored);

}  // namespace ff::valkey_store
