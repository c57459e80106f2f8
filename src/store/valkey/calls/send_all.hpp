// Many requests at once, from a coroutine.
#pragma once

#include <flowfabric/async.hpp>

#include <functional>
#include <vector>

#include "store/valkey/client_names.hpp"

namespace ff::valkey_store {

using RequestDone = std::move_only_function<void(Result<Reply>)>;
using SendRequest = std::function<void(Request, RequestDone)>;

// Sends all, then waits for all; replies in the order of the requests.
asio::awaitable<std::vector<Result<Reply>>> send_all(std::vector<Request> requests,
                                                     SendRequest send);

}  // namespace ff::valkey_store
