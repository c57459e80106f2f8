#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, EventsTellTheLifeOfAnExecution) {
  ReadEvents read{.after = must(run(ReadEvents{})).next};
  const auto id =
      submit(Submit{.kind = greet, .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{1s}}}});
  must(run(failure(claim())));
  pass(1s);
  must(run(complete(claim())));
  const auto page = must(run(read));
  EXPECT_EQ(text(page), "submitted, claimed, retry_scheduled, promoted, claimed, completed");
  EXPECT_FALSE(page.missed);
  EXPECT_EQ(page.events.back(), (Event{.type = EventType::completed,
                                       .at = now(),
                                       .id = id,
                                       .ns = default_namespace(),
                                       .lane = default_lane(),
                                       .kind = greet,
                                       .state = ExecutionState::completed,
                                       .attempts = 2}));
}

TEST_P(Conformance, EventsCanBeReadByTag) {
  ReadEvents read{.tag = "app.team=blue", .after = must(run(ReadEvents{})).next};
  submit(Submit{.kind = greet, .tags = {{"app.team", "red"}}});
  submit(Submit{.kind = greet});
  const auto nothing = must(run(read));
  EXPECT_TRUE(nothing.events.empty());
  const auto blue = submit(Submit{.kind = greet, .tags = {{"app.team", "blue"}}});
  must(run(Cancel{.id = blue}));
  read.after = nothing.next;
  auto page = must(run(read));
  EXPECT_EQ(text(page), "submitted, cancelled");
  EXPECT_EQ(page.events.front().id, blue);

  SubmitFlow flow{.nodes = {}};
  flow.nodes.push_back({.name = *NodeName::parse("a"), .kind = greet});
  flow.tags = {{"app.team", "blue"}};
  const auto submitted = must(run(std::move(flow))).flow;
  read.types = {EventType::flow_submitted};
  page = must(run(read));
  ASSERT_EQ(page.events.size(), 1u);
  EXPECT_EQ(page.events.front().flow, submitted.id);
}

TEST_P(Conformance, ATagToFilterEventsByHasAKeyAndAValue) {
  EXPECT_EQ(error_of(ReadEvents{.tag = "app.team"}), Errc::invalid_input);
}

TEST_P(Conformance, EveryChangeHasItsEvent) {
  ReadEvents read{.after = must(run(ReadEvents{})).next};
  const auto id = submit(Submit{.kind = greet, .policy = {.retention = 1s}});
  must(run(SetTags{.id = id, .set = {{"app.a", "1"}}}));
  must(run(ChangePriority{.id = id, .priority = 1}));
  must(run(Grant{.worker = worker("w1"), .grant_ttl = 1s}));
  pass(1s);
  claim();
  must(run(RevokeLease{.id = id}));
  const auto second = claim();
  must(run(UpdateProgress{.id = id, .fence = second.fence, .percent = 1}));
  must(run(WaitForChildren{.id = id, .fence = second.fence}));
  must(run(delay(claim(), 0ms)));
  must(run(HandBack{.id = id, .fence = claim().fence}));
  claim();
  pass(lease_ttl);
  must(run(Cancel{.id = id}));
  must(run(Replay{.id = id}));
  must(run(failure(claim())));
  pass(1s);
  EXPECT_EQ(text(must(run(read))),
            "submitted, tags_changed, priority_changed, granted, promoted, claimed, "
            "lease_revoked, claimed, progressed, waiting_children, claimed, delayed, claimed, "
            "handed_back, claimed, lease_expired, cancelled, replayed, claimed, failed, removed");
}

TEST_P(Conformance, CallsThatChangeNothingHaveNoEvent) {
  const auto id = submit(Submit{.idempotency_key = key("k"), .kind = greet});
  const auto claimed = claim();
  must(run(complete(claimed)));
  ReadEvents read{.after = must(run(ReadEvents{})).next};
  must(run(Submit{.idempotency_key = key("k"), .kind = greet}));
  must(run(complete(claimed)));
  error_of(Cancel{.id = id});
  error_of(failure(claimed));
  home_->run_scanners();
  EXPECT_EQ(text(must(run(read))), "");
}

TEST_P(Conformance, EventsCanBeFiltered) {
  const auto after = must(run(ReadEvents{})).next;
  const auto events_of = [&](ReadEvents read) {
    read.after = after;
    return must(run(std::move(read))).events.size();
  };
  const auto id = submit();
  submit(Submit{.ns = ns("tenant"), .lane = lane("mail"), .kind = kind("send")});
  must(run(complete(claim())));
  EXPECT_EQ(events_of({}), 4u);
  EXPECT_EQ(events_of({.ns = ns("tenant")}), 1u);
  EXPECT_EQ(events_of({.lane = default_lane()}), 3u);
  EXPECT_EQ(events_of({.kind = kind("send")}), 1u);
  EXPECT_EQ(events_of({.id = id}), 3u);
  EXPECT_EQ(events_of({.types = {EventType::submitted}}), 2u);
  EXPECT_EQ(events_of({.types = {EventType::claimed, EventType::completed}}), 2u);
  EXPECT_EQ(events_of({.ns = ns("tenant"), .types = {EventType::completed}}), 0u);
}

TEST_P(Conformance, PlaceInTheEventsIsKept) {
  ReadEvents read{.after = must(run(ReadEvents{})).next, .limit = 2};
  for (int i = 0; i < 5; ++i) submit();
  std::set<ExecutionId> seen;
  for (const std::size_t expected : {2u, 2u, 1u, 0u}) {
    const auto page = must(run(read));
    EXPECT_EQ(page.events.size(), expected);
    for (const auto& event : page.events) EXPECT_TRUE(seen.insert(event.id).second);
    read.after = page.next;
  }
  submit();
  EXPECT_EQ(must(run(read)).events.size(), 1u);
  EXPECT_EQ(must(run(read)).events.size(), 1u) << "reading takes nothing away";
}

TEST_P(Conformance, FilterMovesThePlaceToo) {
  for (int i = 0; i < 3; ++i) submit();
  const auto after = must(run(ReadEvents{})).next;
  submit();
  const ReadEvents read{.types = {EventType::completed}, .after = after};
  const auto page = must(run(read));
  EXPECT_TRUE(page.events.empty());
  EXPECT_EQ(page.next, must(run(ReadEvents{})).next);
}

TEST_P(Conformance, ReaderWithoutAPlaceBeginsNow) {
  submit();
  EXPECT_TRUE(must(run(ReadEvents{})).events.empty());
}

TEST_P(Conformance, WaitingReaderWakesOnTheEventItWants) {
  auto waiting = start(ReadEvents{
      .types = {EventType::completed}, .after = must(run(ReadEvents{})).next, .wait = wake_up_max});
  const auto id = submit();
  must(run(complete(claim())));
  const auto page = must(waiting.get());
  ASSERT_EQ(page.events.size(), 1u);
  EXPECT_EQ(page.events[0].id, id);
}

TEST_P(Conformance, WaitingReaderGivesUpInTheEnd) {
  const auto page = must(run(ReadEvents{.wait = 1ms}));
  EXPECT_TRUE(page.events.empty());
  EXPECT_FALSE(page.next.empty());
}

TEST_P(Conformance, ReaderIsToldWhatItMissedDuringARestart) {
  const auto before = must(run(ReadEvents{})).next;
  submit();
  home_->restart();
  auto page = must(run(ReadEvents{.after = before, .wait = wake_up_max}));
  EXPECT_TRUE(page.missed);
  submit();
  page = must(run(ReadEvents{.after = page.next}));
  EXPECT_FALSE(page.missed);
  EXPECT_EQ(text(page), "submitted");
}

TEST_P(Conformance, WrongPlaceInTheEventsIsRefused) {
  for (const char* after : {"x", "", "a-b", "-"})
    EXPECT_EQ(error_of(ReadEvents{.after = after}), Errc::invalid_input) << after;
  EXPECT_EQ(error_of(ReadEvents{.limit = 0}), Errc::invalid_input);
  EXPECT_EQ(error_of(ReadEvents{.limit = limits::events_page_max + 1}), Errc::invalid_input);
  EXPECT_EQ(error_of(ReadEvents{.wait = limits::wait_max + 1ms}), Errc::invalid_input);
}

}  // namespace
}  // namespace ff::conformance
