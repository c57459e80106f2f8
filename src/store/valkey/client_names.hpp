// The parts of the Valkey client that the store uses by their short names.
#pragma once

#include "valkey/client.hpp"

namespace ff::valkey_store {

using valkey::Client;
using valkey::ClientOptions;
using valkey::Endpoint;
using valkey::Patience;
using valkey::Repeat;
using valkey::Reply;
using valkey::ReplyError;
using valkey::Request;
using valkey::slot_of;
using valkey::SlotRange;
using valkey::TcpEndpoint;
using valkey::UnixEndpoint;

}  // namespace ff::valkey_store
