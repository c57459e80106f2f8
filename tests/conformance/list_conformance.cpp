#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Executions whose payload is their name, which lists show by their kind.
Submit named(const char* name) { return {.kind = kind(name)}; }

std::vector<std::string> names(const ExecutionList& list) {
  std::vector<std::string> all;
  for (const auto& each : list.executions) all.push_back(each.kind.str());
  return all;
}

TEST_P(Conformance, ListShowsTheNewestFirst) {
  EXPECT_THAT(names(must(run(ListExecutions{}))), IsEmpty());
  for (const char* name : {"a", "b", "c"}) {
    submit(named(name));
    advance(1ms);
  }
  const auto list = must(run(ListExecutions{}));
  EXPECT_THAT(names(list), ElementsAre("c", "b", "a"));
  EXPECT_EQ(list.next, std::nullopt);
  EXPECT_EQ(list.executions.at(0), info(list.executions.at(0).id)) << "as it is on its own";
}

TEST_P(Conformance, ListHasAllOfOneMillisecond) {
  std::set<ExecutionId> ids;
  for (int i = 0; i < 10; ++i) ids.insert(submit());
  ListExecutions page{.limit = 3};
  std::set<ExecutionId> listed;
  do {
    const auto reply = must(run(page));
    for (const auto& each : reply.executions) EXPECT_TRUE(listed.insert(each.id).second);
    page.cursor = reply.next;
  } while (page.cursor);
  EXPECT_EQ(listed, ids);
}

TEST_P(Conformance, ListSeesOneNamespace) {
  submit(Submit{.ns = ns("tenant"), .kind = kind("theirs")});
  submit(named("ours"));
  EXPECT_THAT(names(must(run(ListExecutions{}))), ElementsAre("ours"));
  EXPECT_THAT(names(must(run(ListExecutions{.ns = ns("tenant")}))), ElementsAre("theirs"));
  EXPECT_THAT(names(must(run(ListExecutions{.ns = ns("tenan")}))), IsEmpty());
}

TEST_P(Conformance, ListFiltersByLaneAndKind) {
  submit(Submit{.lane = lane("mail"), .kind = kind("a")});
  advance(1ms);
  submit(Submit{.lane = lane("mail"), .kind = kind("b")});
  submit(named("a"));
  EXPECT_THAT(names(must(run(ListExecutions{.lane = lane("mail")}))), ElementsAre("b", "a"));
  EXPECT_EQ(must(run(ListExecutions{.kind = kind("a")})).executions.size(), 2u);
  EXPECT_THAT(names(must(run(ListExecutions{.lane = lane("mail"), .kind = kind("a")}))),
              ElementsAre("a"));
}

TEST_P(Conformance, ListFiltersByState) {
  const auto in = [&](ExecutionState state) {
    return names(must(run(ListExecutions{.state = state})));
  };
  submit(named("done"));
  const auto done = claim();
  must(run(complete(done)));
  submit(named("lost"));
  claim();
  pass(lease_ttl);
  EXPECT_THAT(in(ExecutionState::active), ElementsAre("lost"));
  must(run(claim_of(must(run(ListExecutions{.kind = kind("lost")})).executions.at(0).id)));
  submit(named("ready"));
  submit(Submit{.kind = kind("later"), .delay_until = now() + 1h});
  EXPECT_THAT(in(ExecutionState::completed), ElementsAre("done"));
  EXPECT_THAT(in(ExecutionState::active), ElementsAre("lost"));
  EXPECT_THAT(in(ExecutionState::waiting), ElementsAre("ready"));
  EXPECT_THAT(in(ExecutionState::delayed), ElementsAre("later"));
  EXPECT_THAT(in(ExecutionState::failed), IsEmpty());
  must(run(Replay{.id = done.id}));
  EXPECT_THAT(in(ExecutionState::completed), IsEmpty());
}

TEST_P(Conformance, ListFiltersByTime) {
  const auto start = now();
  for (const char* name : {"a", "b", "c", "d"}) {
    submit(named(name));
    advance(1s);
  }
  const auto between = [&](Millis from, Millis before) {
    return names(
        must(run(ListExecutions{.created_from = start + from, .created_before = start + before})));
  };
  EXPECT_THAT(between(1s, 3s), ElementsAre("c", "b"));
  EXPECT_THAT(between(1001ms, 2001ms), ElementsAre("c"));
  EXPECT_THAT(between(0s, 1h), ElementsAre("d", "c", "b", "a"));
  EXPECT_THAT(between(2s, 2s), IsEmpty());
  EXPECT_THAT(between(3s, 1s), IsEmpty());
}

TEST_P(Conformance, ListFiltersByTag) {
  submit(Submit{.kind = kind("a"), .tags = {{"app.team", "red"}}});
  advance(1ms);
  const auto b = submit(Submit{.kind = kind("b"), .tags = {{"app.team", "red=1"}, {"app.x", ""}}});
  advance(1ms);
  submit(Submit{.ns = ns("tenant"), .kind = kind("c"), .tags = {{"app.team", "red"}}});
  const auto tagged = [&](const char* tag) { return names(must(run(ListExecutions{.tag = tag}))); };
  EXPECT_THAT(tagged("app.team=red"), ElementsAre("a"));
  EXPECT_THAT(tagged("app.team=red=1"), ElementsAre("b"));
  EXPECT_THAT(tagged("app.x="), ElementsAre("b"));
  EXPECT_THAT(tagged("app.team="), IsEmpty());
  must(run(SetTags{.id = b, .set = {{"app.team", "red"}}, .remove = {"app.x"}}));
  EXPECT_THAT(tagged("app.team=red"), ElementsAre("b", "a"));
  EXPECT_THAT(tagged("app.team=red=1"), IsEmpty());
  EXPECT_THAT(tagged("app.x="), IsEmpty());
  EXPECT_EQ(error_of(ListExecutions{.tag = "app.team"}), Errc::invalid_input);
}

TEST_P(Conformance, FiltersHoldTogetherAndAfterARestart) {
  for (const char* name : {"a", "b"})
    for (const char* in : {"default", "mail"}) {
      submit(Submit{.lane = lane(in), .kind = kind(name), .tags = {{"app.x", "1"}}});
      advance(1s);
    }
  const ListExecutions query{.lane = lane("mail"),
                             .state = ExecutionState::waiting,
                             .kind = kind("b"),
                             .tag = "app.x=1",
                             .created_from = now() - 1s,
                             .created_before = now()};
  EXPECT_THAT(names(must(run(query))), ElementsAre("b"));
  home_->restart();
  EXPECT_THAT(names(must(run(query))), ElementsAre("b"));
}

// ---- Pages ---------------------------------------------------------------------------------------

TEST_P(Conformance, PagesStayWhereTheyAreWhileNewExecutionsArrive) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    submit(named(name));
    advance(1ms);
  }
  ListExecutions page{.limit = 2};
  std::vector<std::string> seen;
  do {
    const auto reply = must(run(page));
    for (const auto& name : names(reply)) seen.push_back(name);
    page.cursor = reply.next;
    submit(named("new"));
    advance(1ms);
  } while (page.cursor);
  EXPECT_THAT(seen, ElementsAre("e", "d", "c", "b", "a"));
}

TEST_P(Conformance, PagesGoOnAfterAnExecutionOfTheLastOneWasRemoved) {
  for (const char* name : {"a", "b", "c"}) {
    submit(Submit{.kind = kind(name), .policy = {.retention = 1s}});
    advance(1ms);
  }
  const auto first = must(run(ListExecutions{.limit = 1}));
  EXPECT_THAT(names(first), ElementsAre("c"));
  must(run(Cancel{.id = first.executions.at(0).id}));
  pass(1s);
  EXPECT_THAT(names(must(run(ListExecutions{.cursor = first.next}))), ElementsAre("b", "a"));
}

TEST_P(Conformance, PagesOfATagAndATimeGoOnToo) {
  for (int i = 0; i < 5; ++i) {
    submit(Submit{.kind = kind("tagged"), .tags = {{"app.x", "1"}}});
    submit(named("other"));
    advance(1s);
  }
  ListExecutions page{.tag = "app.x=1", .created_before = now() - 1s, .limit = 3};
  const auto first = must(run(page));
  EXPECT_EQ(first.executions.size(), 3u);
  page.cursor = first.next;
  EXPECT_EQ(must(run(page)).executions.size(), 1u);
}

TEST_P(Conformance, CursorIsGoodAfterARestart) {
  for (int i = 0; i < 3; ++i) submit();
  const auto first = must(run(ListExecutions{.limit = 2}));
  home_->restart();
  EXPECT_EQ(must(run(ListExecutions{.cursor = first.next})).executions.size(), 1u);
}

TEST_P(Conformance, WrongPagesAreRefused) {
  for (int i = 0; i < 2; ++i) submit();
  for (const char* cursor : {"", "x", "00", "zz", "42"})
    EXPECT_EQ(error_of(ListExecutions{.cursor = cursor}), Errc::invalid_input) << cursor;
  const auto good = must(run(ListExecutions{.limit = 1})).next;
  EXPECT_EQ(error_of(ListExecutions{.cursor = *good + "00"}), Errc::invalid_input);
  EXPECT_EQ(error_of(ListExecutions{.limit = 0}), Errc::invalid_input);
  EXPECT_EQ(error_of(ListExecutions{.limit = limits::list_page_max + 1}), Errc::invalid_input);
}

// So many that no partition gives all of its own at once.
TEST_P(Conformance, AFilterThatMatchesNothingFindsAnEmptyList) {
  for (int batch = 0; batch < 5; ++batch) {
    SubmitMany many;
    for (int i = 0; i < 1'000; ++i) many.executions.push_back({.kind = greet});
    must(run(std::move(many)));
  }
  const auto list = must(run(ListExecutions{.state = ExecutionState::failed}));
  EXPECT_THAT(list.executions, IsEmpty());
  EXPECT_EQ(list.next, std::nullopt);
}

}  // namespace
}  // namespace ff::conformance
