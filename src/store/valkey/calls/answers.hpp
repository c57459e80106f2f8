// Reading what the function library answers, and what the server itself says against a call.
#pragma once

#include <flowfabric/operations.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/valkey/client_names.hpp"

namespace ff::valkey_store {

bool mentions(const ReplyError& error, std::string_view text);
std::unexpected<Error> server_error(const ReplyError& error);
std::unexpected<Error> malformed(std::string_view what);
// The node of a call did not answer; nothing is said against the call itself.
bool is_unreachable(const Error& error);

// [1, word, …] or [0, code, …]; anything else is an error.
Result<std::vector<Reply>> list_of(Result<Reply> reply);
bool is_refusal(const std::vector<Reply>& list);
std::vector<Reply> without(std::vector<Reply> list, std::ptrdiff_t first);

// The last part of what a command answers: which run of the server did it.
std::string take_run(Result<std::vector<Reply>>& list);

std::string text_in(const Reply& reply);  // "" if it is no text
std::optional<std::pair<Namespace, LaneId>> parse_queue(std::string_view queue);
std::optional<PartitionIndex> parse_tag(std::string_view tag);
std::optional<PartitionIndex> parse_tag(const Reply& reply);

}  // namespace ff::valkey_store
