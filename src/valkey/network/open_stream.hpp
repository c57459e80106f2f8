// From an address to a connection that takes commands.
#pragma once

#include "valkey/network/stream.hpp"
#include "valkey/protocol/reply.hpp"
#include "valkey/protocol/reply_reader.hpp"

namespace ff::valkey {

// Connects and introduces the client, within the connect timeout. Fails with
//   store_unavailable   it may work later; the message is only the reason
//   unauthenticated     user or password is wrong or missing
Async<void> open_stream(Stream& stream, const Endpoint& endpoint, const ClientOptions& options);

// The next reply on a connection where nobody else reads. Fails with store_unavailable, or with
// malformed_response.
Async<Reply> read_reply(Stream& stream, ReplyReader& reader);

}  // namespace ff::valkey
