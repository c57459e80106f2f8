// Telling the events of this process's own calls from news.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/async/wakeup.hpp"
#include "store/valkey/calls/event_message.hpp"

namespace ff::valkey_store {

// The reply to a change contains its event, so the echo on the channel is skipped. But a reply
// may be lost although the change was made, or come from a second try that found everything done: then
// the echo is the only notice of the change. Thread-safe.
class OwnEventFilter {
 public:
  // `process` names this one among all that make changes.
  explicit OwnEventFilter(std::string process) : prefix_(std::move(process) + '.') {}

  // Number and origin of a call; the origin is sent with the call and identifies its echo.
  std::uint64_t begin();
  std::string origin_of(std::uint64_t call) const { return prefix_ + std::to_string(call); }

  // The changes that the reply to a call tells of. Unknown: it is lost, or from a second try that found
  // everything done.
  enum class Told : std::uint8_t { all, there_are_none, unknown };

  // The reply is there, or will not come. Returns what it did not tell, if the echo was heard.
  std::vector<EventMessage> end(std::uint64_t call, Told told);

  // The changes of one call, on the channel. None if they are an echo of what a reply tells.
  std::vector<EventMessage> hear(std::vector<EventMessage> changes);

  // Ends when the changes of all calls that have ended were heard, or will not be.
  asio::awaitable<void> catch_up();
  // Messages that were published and not heard never arrive.
  void note_gap();

 private:
  static constexpr std::size_t untold_max = 10'000;
  static constexpr std::size_t unheard_max = 10'000;

  struct Waiter {
    std::uint64_t last;  // call
    Wakeup& wakeup;
  };
  bool has_heard(std::uint64_t last) const { return unheard_.empty() || *unheard_.begin() > last; }
  void remember_untold(std::uint64_t call);
  void remember_unheard(std::uint64_t call);
  void wake_waiters();

  std::string prefix_;
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, std::vector<EventMessage>> open_;  // calls, and what was heard
  std::unordered_set<std::uint64_t> untold_;  // calls that have ended, and whose reply told nothing
  std::deque<std::uint64_t> untold_order_;
  std::set<std::uint64_t> unheard_;  // calls whose changes a reply told, and the channel not yet
  std::list<Waiter> waiters_;
};

}  // namespace ff::valkey_store
