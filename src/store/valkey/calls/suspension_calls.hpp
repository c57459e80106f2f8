// Commands and reads of suspensions, waitpoints, signals and steps as function calls.
#pragma once

#include "store/valkey/calls/calls.hpp"

namespace ff::valkey_store {

FunctionCall call_for(Suspend& command);
FunctionCall call_for(Resume& command);
FunctionCall call_for(SendSignal& command);
FunctionCall call_for(CreateWaitpoint& command);
FunctionCall call_for(CloseWaitpoint& command);
FunctionCall call_for(PutStep& command);

SuspendReply read_answer(const Suspend& command, Answer& answer);
EndReply read_answer(const Resume& command, Answer& answer);
SignalReply read_answer(const SendSignal& command, Answer& answer);
CreateWaitpointReply read_answer(const CreateWaitpoint& command, Answer& answer);
CloseWaitpointReply read_answer(const CloseWaitpoint& command, Answer& answer);
PutStepReply read_answer(const PutStep& command, Answer& answer);

// Reads: what is asked, and what the answer without its first two parts means.
FunctionCall call_for(const GetSuspension& query);
FunctionCall call_for(const GetSignals& query);
FunctionCall call_for(const core::FindSignal& query);
FunctionCall call_for(const GetStep& query);
FunctionCall call_for(const ListSteps& query);

Result<SuspensionReply> read_list(const GetSuspension& query, std::vector<Reply> parts);
Result<SignalPage> read_list(const GetSignals& query, std::vector<Reply> parts);
Result<std::optional<core::FoundSignal>> read_list(const core::FindSignal& query,
                                                   std::vector<Reply> parts);
Result<Bytes> read_list(const GetStep& query, std::vector<Reply> parts);
Result<StepList> read_list(const ListSteps& query, std::vector<Reply> parts);

}  // namespace ff::valkey_store
