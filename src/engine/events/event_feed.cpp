#include "engine/events/event_feed.hpp"

#include <algorithm>

#include "base/async/cancellation.hpp"

namespace ff {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t slice_max = 1'000;

}  // namespace

// A follower in its list, for as long as it reads. It takes its place before it reads, so that nothing that
// is appended in between is missed.
class EventFeed::Place {
 public:
  Place(EventFeed& feed, const ReadEvents& query, Wakeup& wakeup)
      : feed_(feed), follower_{.query = query, .wakeup = wakeup, .from = 0} {
    ++feed_.follower_count_;
    const std::lock_guard lock(feed_.mutex_);
    if (feed_.by_execution_.empty() && feed_.others_.empty())
      feed_.dispatched_ = feed_.log_.end_number();
    followers_ =
        query.id ? feed_.by_execution_.try_emplace(*query.id).first : feed_.by_execution_.end();
    auto& list = query.id ? followers_->second : feed_.others_;
    position_ = list.insert(list.end(), &follower_);
  }
  ~Place() {
    const std::lock_guard lock(feed_.mutex_);
    --feed_.follower_count_;
    if (!follower_.query.id) {
      feed_.others_.erase(position_);
      return;
    }
    followers_->second.erase(position_);
    if (followers_->second.empty()) feed_.by_execution_.erase(followers_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  // It has read everything before `number`. While it had a match, later events were not compared.
  void has_read(std::uint64_t number) {
    const std::lock_guard lock(feed_.mutex_);
    follower_.from = number;
    const auto match = std::exchange(follower_.match, std::nullopt);
    if (!match || feed_.dispatched_ <= number) return;
    follower_.match = std::max(*match, number);
    follower_.wakeup.wake();
  }

  // Where to read on: nothing before it matches.
  std::uint64_t next() {
    const std::lock_guard lock(feed_.mutex_);
    const auto match = std::exchange(follower_.match, std::nullopt);
    return match ? *match : std::max(follower_.from, feed_.dispatched_);
  }

 private:
  EventFeed& feed_;
  Follower follower_;
  std::map<ExecutionId, Followers>::iterator followers_;  // of its execution, if it follows one
  Followers::iterator position_;
};

EventFeed::EventFeed(asio::any_io_executor executor, std::string name, std::size_t events_max)
    : log_(std::move(name), events_max), executor_(std::move(executor)), appended_(executor_) {
  coroutines_.spawn(executor_, [this] { return dispatch(); });
}

EventFeed::~EventFeed() {
  stopping_ = true;
  appended_.wake();
  coroutines_.wait();
}

void EventFeed::append(std::span<const core::ExecutionChange> changes) {
  log_.append(changes);
  if (follower_count_ > 0) appended_.wake();
}

void EventFeed::note_gap() {
  log_.note_gap();
  if (follower_count_ > 0) appended_.wake();
}

asio::awaitable<void> EventFeed::dispatch() {
  while (!stopping_) {
    co_await appended_.wait_until(Steady::now() + std::chrono::hours{1});
    while (!stopping_ && follower_count_ > 0) {
      std::uint64_t from = 0;
      {
        const std::lock_guard lock(mutex_);
        from = dispatched_;
      }
      const auto slice = log_.since(from, slice_max);
      if (slice.events.empty() && slice.first == from) break;
      wake_followers(from, slice);
    }
  }
}

void EventFeed::wake_followers(std::uint64_t from, const EventLog::Slice& slice) {
  const std::lock_guard lock(mutex_);
  if (slice.first > from) {  // some are gone: everybody finds that out by reading
    for (auto& [id, followers] : by_execution_) wake(followers, nullptr, from);
    wake(others_, nullptr, from);
  }
  auto number = slice.first;
  for (const auto& event : slice.events) {
    const auto followers = by_execution_.find(event->id);
    if (followers != by_execution_.end()) wake(followers->second, event.get(), number);
    wake(others_, event.get(), number);
    ++number;
  }
  dispatched_ = std::max(dispatched_, number);
}

void EventFeed::wake(const Followers& followers, const Event* event, std::uint64_t number) {
  for (auto* follower : followers) {
    if (follower->match || number < follower->from) continue;
    if (event && !matches(*event, follower->query)) continue;
    follower->match = number;
    follower->wakeup.wake();
  }
}

Async<EventPage> EventFeed::read(ReadEvents query, Steady::time_point deadline) {
  Wakeup wakeup(co_await asio::this_coro::executor);
  Place place(*this, query, wakeup);
  if (!query.after) query.after = log_.end();
  while (true) {
    auto page = log_.read(query);
    const bool nothing = page && page->events.empty() && !page->missed;
    if (!nothing || Steady::now() >= deadline || co_await is_cancelled()) co_return page;
    place.has_read(log_.number_of(page->next));
    co_await wakeup.wait_until(deadline);
    query.after = log_.place(place.next());
  }
}

}  // namespace ff
