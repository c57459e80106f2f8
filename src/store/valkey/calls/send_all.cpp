#include "store/valkey/calls/send_all.hpp"

#include <atomic>
#include <memory>

#include "base/async/suspend.hpp"

namespace ff::valkey_store {

asio::awaitable<std::vector<Result<Reply>>> send_all(std::vector<Request> requests,
                                                     SendRequest send) {
  std::vector<Result<Reply>> replies(requests.size(), std::unexpected(Error{}));
  if (requests.empty()) co_return replies;
  struct Gather {
    std::atomic<std::size_t> missing;
    Continuation resume;
  };
  co_await suspend_until([&](Continuation resume) {
    const auto gather = std::make_shared<Gather>(requests.size(), std::move(resume));
    // The coroutine may go on, and end, before this loop does.
    auto sent = std::move(requests);
    const auto sender = std::move(send);
    auto* reply = replies.data();
    for (auto& request : sent) {
      sender(std::move(request), [gather, reply](Result<Reply> given) {
        *reply = std::move(given);
        if (--gather->missing == 0) gather->resume();
      });
      ++reply;
    }
  });
  co_return replies;
}

}  // namespace ff::valkey_store
