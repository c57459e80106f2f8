#include "engine/events/event_log.hpp"

#include <gtest/gtest.h>

namespace ff {
namespace {

core::ExecutionChange change(EventType type, const char* lane) {
  return {.event = {.type = type,
                    .at = {},
                    .id = {},
                    .ns = default_namespace(),
                    .lane = *LaneId::parse(lane),
                    .kind = *Kind::parse("k")}};
}

void append(EventLog& log, EventType type, const char* lane = "default") {
  const auto one = change(type, lane);
  log.append({&one, 1});
}

std::string types(const EventPage& page) {
  std::string text;
  for (const auto& event : page.events) text += std::string(to_string(event.type)) + " ";
  return text + (page.missed ? "missed" : "");
}

TEST(EventLog, GivesWhatCameAfterAPlace) {
  EventLog log("log", 10);
  append(log, EventType::submitted);
  const auto place = log.end();
  append(log, EventType::claimed);
  append(log, EventType::completed);
  const auto page = must(log.read({.after = place, .limit = 1}));
  EXPECT_EQ(types(page), "claimed ");
  EXPECT_EQ(types(must(log.read({.after = page.next}))), "completed ");
}

TEST(EventLog, WithoutAPlaceItBeginsNow) {
  EventLog log("log", 10);
  append(log, EventType::submitted);
  EXPECT_EQ(types(must(log.read({}))), "");
}

TEST(EventLog, Filters) {
  EventLog log("log", 10);
  const auto start = log.end();
  append(log, EventType::submitted, "mail");
  append(log, EventType::claimed, "mail");
  append(log, EventType::claimed, "post");
  EXPECT_EQ(must(log.read({.lane = *LaneId::parse("mail"), .after = start})).events.size(), 2u);
  EXPECT_EQ(types(must(log.read({.types = {EventType::claimed}, .after = start}))),
            "claimed claimed ");
}

TEST(EventLog, APlaceBeyondTheEndIsNotOfThisLog) {
  EventLog log("log", 10);
  append(log, EventType::submitted);
  EXPECT_EQ(types(must(log.read({.after = "log-99"}))), "submitted missed");
}

TEST(EventLog, SaysWhenEventsAreMissing) {
  EventLog log("log", 2);
  const auto start = log.end();
  for (int i = 0; i < 3; ++i) append(log, EventType::claimed);
  EXPECT_EQ(types(must(log.read({.after = start}))), "claimed claimed missed");
}

TEST(EventLog, KnowsAPlaceOfAnotherLog) {
  EventLog before("before", 10), now("now", 10);
  append(now, EventType::claimed);
  EXPECT_EQ(types(must(now.read({.after = before.end()}))), "claimed missed");
}

TEST(EventLog, RefusesWhatIsNoPlace) {
  const EventLog log("log", 10);
  for (const auto* text : {"", "log", "log-", "log-x", "log-99999999999999999999"})
    EXPECT_EQ(log.read({.after = text}).error().code, Errc::invalid_input) << text;
}

}  // namespace
}  // namespace ff
