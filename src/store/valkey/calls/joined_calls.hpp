// Commands on several executions as one function call, which costs Valkey less than a call for each.
#pragma once

#include <optional>

#include "store/valkey/calls/calls.hpp"

namespace ff::valkey_store {

// The part of one command in such a call.
struct JoinableCall {
  std::string_view function;
  std::vector<std::string> shared = {};  // arguments that are the same for all of a call
  std::vector<std::string> own = {};     // arguments of this one, behind its origin

  std::size_t bytes() const;
};

// How many commands a call joins, and how many bytes of their own arguments: it must not hold the server long.
inline constexpr std::size_t joined_max = 32;
inline constexpr std::size_t joined_bytes_max = 64 * 1024;

// None: the command needs a call of its own, and nothing was taken from it.
std::optional<JoinableCall> joinable_call_for(core::Create& command);
std::optional<JoinableCall> joinable_call_for(core::LeaseGrant& command);
std::optional<JoinableCall> joinable_call_for(Complete& command);

// The answers of the commands of a joined call, in their order, from the answer to it without the name of the run.
std::vector<Result<std::vector<Reply>>> answers_of_joined(Result<std::vector<Reply>> answer,
                                                          std::size_t count);

// The answer of ff_lease, from that of one lease of ff_lease_many.
std::vector<Reply> lease_answer(std::vector<Reply> joined);

}  // namespace ff::valkey_store
