// Commands and reads of streams as function calls.
#pragma once

#include "store/store.hpp"
#include "store/valkey/calls/calls.hpp"

namespace ff::valkey_store {

FunctionCall call_for(AppendFrames& command);
AppendReply read_answer(const AppendFrames& command, Answer& answer);

// Reads: what is asked, and what the answer without its first two parts means.
FunctionCall call_for(const store::ReadFrames& query);
FunctionCall call_for(const ListStreams& query);
FunctionCall call_for(const store::ReadAttemptFrames& query);
Result<StreamPage> read_list(const store::ReadFrames& query, std::vector<Reply> parts);
Result<StreamList> read_list(const ListStreams& query, std::vector<Reply> parts);
Result<AttemptFrames> read_list(const store::ReadAttemptFrames& query, std::vector<Reply> parts);

}  // namespace ff::valkey_store
