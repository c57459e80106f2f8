// The bridge from callbacks to coroutines, compiled once.
#pragma once

#include <flowfabric/async.hpp>

#include <functional>

namespace ff {

// Continues a suspended coroutine on its own executor. To be called once, from any thread; dropping it
// uncalled destroys the coroutine.
using Continuation = std::move_only_function<void()>;

// Suspends the calling coroutine, then calls `begin`, which must keep the `Continuation` until its work is
// done. The work may end, and the caller go on, before `begin` returns: nothing of the caller's may be
// used in `begin` after its work was started.
asio::awaitable<void> suspend_until(std::move_only_function<void(Continuation)> begin);

}  // namespace ff
