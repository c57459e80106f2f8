#include "engine/events/event_feed.hpp"

#include <gtest/gtest.h>

#include "base/async/runtime.hpp"
#include "tests/support/blocking.hpp"

namespace ff {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

ExecutionId execution(std::uint8_t number) { return {0, Uuid{Uuid::Bytes{number}}}; }

class EventFeedTest : public ::testing::Test {
 protected:
  void append(EventType type, std::uint8_t number) {
    const core::ExecutionChange change{.event = {.type = type,
                                                 .at = {},
                                                 .id = execution(number),
                                                 .ns = default_namespace(),
                                                 .lane = default_lane(),
                                                 .kind = *Kind::parse("k")}};
    feed_.append({&change, 1});
  }
  std::future<Result<EventPage>> start(ReadEvents query, Millis wait = 10s) {
    return test::start(runtime_.executor(), feed_.read(std::move(query), Steady::now() + wait));
  }
  EventPage read(ReadEvents query, Millis wait = 0s) {
    return must(start(std::move(query), wait).get());
  }
  std::string now() { return read({}).next; }

  Runtime runtime_{1};  // one thread: a reader that was started sleeps before the next call begins
  EventFeed feed_{runtime_.executor(), "feed", 4};
};

std::string types_in(const EventPage& page) {
  std::string text;
  for (const auto& event : page.events) text += std::string(to_string(event.type)) + " ";
  return text + (page.missed ? "missed" : "");
}

TEST_F(EventFeedTest, WakesAFollowerOfEverything) {
  auto follower = start({.after = now()});
  append(EventType::submitted, 1);
  EXPECT_EQ(types_in(must(follower.get())), "submitted ");
}

TEST_F(EventFeedTest, WakesAFollowerOfOneExecutionForThatAlone) {
  auto follower = start({.id = execution(1), .after = now()});
  append(EventType::submitted, 2);
  append(EventType::claimed, 1);
  EXPECT_EQ(types_in(must(follower.get())), "claimed ");
}

TEST_F(EventFeedTest, TellsFollowersOfAGapAtOnce) {
  append(EventType::submitted, 1);
  auto follower = start({.after = now()});
  auto of_one = start({.id = execution(2), .after = now()});
  feed_.note_gap();
  EXPECT_EQ(types_in(must(follower.get())), "missed");
  const auto page = must(of_one.get());
  EXPECT_EQ(types_in(page), "missed");
  append(EventType::completed, 2);
  EXPECT_EQ(types_in(read({.id = execution(2), .after = page.next})), "completed ");
}

// The log is shorter than what was appended meanwhile; a follower of one execution missed nothing of it.
TEST_F(EventFeedTest, EventsThatAFollowerDoesNotFollowAreNotMissing) {
  auto follower = start({.id = execution(1), .after = now()});
  auto everything = now();
  for (int i = 0; i < 20; ++i) {
    append(EventType::progressed, 2);
    everything = read({.after = everything}, 10s).next;  // the dispatcher has come this far
  }
  append(EventType::completed, 1);
  EXPECT_EQ(types_in(must(follower.get())), "completed ");
}

TEST_F(EventFeedTest, AFollowerThatIsTooSlowIsToldSo) {
  const auto start_place = now();
  for (int i = 0; i < 6; ++i) append(EventType::claimed, 1);
  EXPECT_EQ(types_in(read({.after = start_place})), "claimed claimed claimed claimed missed");
}

TEST_F(EventFeedTest, AWaitEndsWithWhereToGoOn) {
  append(EventType::submitted, 1);
  auto empty = read({.id = execution(9), .after = now()}, 1ms);
  EXPECT_EQ(types_in(empty), "");
  append(EventType::submitted, 9);
  EXPECT_EQ(types_in(read({.id = execution(9), .after = empty.next})), "submitted ");
}

TEST_F(EventFeedTest, ManyFollowersAndWritersLoseNothing) {
  constexpr int events = 200;
  Runtime threads(2);
  EventFeed feed(threads.executor(), "long", 10'000);
  const auto follow = [&](std::optional<ExecutionId> id) -> asio::awaitable<int> {
    int seen = 0;
    std::optional<std::string> after = "long-0";
    while (seen < (id ? events : 4 * events)) {
      ReadEvents query{.id = id, .after = after};
      auto page = co_await feed.read(std::move(query), Steady::now() + 10s);
      if (!page || page->events.empty()) break;
      seen += static_cast<int>(page->events.size());
      after = page->next;
    }
    co_return seen;
  };
  std::vector<std::future<int>> one, all;
  for (std::uint8_t i = 0; i < 4; ++i) {
    one.push_back(test::start(threads.executor(), follow(execution(i))));
    all.push_back(test::start(threads.executor(), follow(std::nullopt)));
  }
  std::vector<std::thread> writers;
  for (std::uint8_t i = 0; i < 4; ++i)
    writers.emplace_back([&feed, i] {
      for (int n = 0; n < events; ++n) {
        const core::ExecutionChange change{.event = {.type = EventType::progressed,
                                                     .at = {},
                                                     .id = execution(i),
                                                     .ns = default_namespace(),
                                                     .lane = default_lane(),
                                                     .kind = *Kind::parse("k")}};
        feed.append({&change, 1});
      }
    });
  for (auto& writer : writers) writer.join();
  for (auto& seen : one) EXPECT_EQ(seen.get(), events);
  for (auto& seen : all) EXPECT_EQ(seen.get(), 4 * events);
}

}  // namespace
}  // namespace ff
