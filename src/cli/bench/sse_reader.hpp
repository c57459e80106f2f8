// Readers of server-sent events, many in one process.
#pragma once

#include <flowfabric/async.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ff::cli::bench {

struct SseTarget {
  std::string host;
  std::string port;
  std::string path;
  std::string token = {};
};

// Calls `each` with the text of every event until the server hangs up. `connected` is called when the response has
// begun. Fails with unreachable if it has another status than 200.
Async<void> read_events(SseTarget target, std::function<void()> connected,
                        std::function<void(std::string_view event)> each);

}  // namespace ff::cli::bench
