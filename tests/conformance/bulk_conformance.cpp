#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

StartBulk bulk(BulkAction action, std::string where) {
  StartBulk start;
  start.where = std::move(where);
  start.work.action = action;
  return start;
}

BulkId some_bulk_id(int number) {
  return must(BulkId::parse(fmt::format("01920000-0000-7000-8000-{:012}", number)));
}

std::string outcome(const BulkInfo& bulk) {
  return fmt::format("{}: {} matched, {} done, {} failed, {} skipped", to_string(bulk.state),
                     bulk.counts.matched, bulk.counts.done, bulk.counts.failed,
                     bulk.counts.skipped);
}

class BulkConformance : public Conformance {
 protected:
  // The job when it has ended.
  BulkInfo finish(const BulkId& id) {
    home_->run_scanners();
    return must(Conformance::run(GetBulk{id}));
  }
  std::string run_job(StartBulk start) {
    return outcome(finish(*must(Conformance::run(std::move(start))).id));
  }
  ExecutionId submit_kind(const char* name) { return submit(Submit{.kind = kind(name)}); }
  std::vector<std::string> kinds(std::string where, ListOrder order = ListOrder::newest) {
    ListExecutions list;
    list.where = std::move(where);
    list.order = order;
    std::vector<std::string> all;
    for (const auto& each : must(Conformance::run(std::move(list))).executions)
      all.push_back(each.kind.str());
    return all;
  }
};

// ---- Filters -------------------------------------------------------------------------------------

TEST_P(BulkConformance, FilterHasATermForEachThing) {
  submit(
      Submit{.lane = lane("gpu"), .kind = kind("a"), .priority = 3, .tags = {{"app.user", "42"}}});
  advance(1s);
  submit(
      Submit{.lane = lane("gpu"), .kind = kind("b"), .priority = 7, .tags = {{"app.user", "43"}}});
  advance(1s);
  submit_kind("c");
  advance(1s);
  const auto done = submit_kind("d");
  advance(1s);
  must(run(Cancel{.id = done}));
  EXPECT_THAT(kinds("lane:gpu"), ElementsAre("b", "a"));
  EXPECT_THAT(kinds("lane:gpu kind:a"), ElementsAre("a"));
  EXPECT_THAT(kinds("tag:app.user=42"), ElementsAre("a"));
  EXPECT_THAT(kinds("tag:app.user=42 lane:default"), IsEmpty());
  EXPECT_THAT(kinds("priority:>3"), ElementsAre("b"));
  EXPECT_THAT(kinds("priority:>=3 priority:<7"), ElementsAre("a"));
  EXPECT_THAT(kinds("state:cancelled"), ElementsAre("d"));
  EXPECT_THAT(kinds("state:waiting,cancelled kind:c"), ElementsAre("c"));
  EXPECT_THAT(kinds("created:<=-3s"), ElementsAre("b", "a"));
  EXPECT_THAT(kinds("created:>-3s"), ElementsAre("d", "c"));
  EXPECT_THAT(kinds("ended:>-1s"), ElementsAre("d"));
  EXPECT_THAT(kinds("ended:<-1s"), IsEmpty());
  const auto claimed = claim("w7");
  EXPECT_THAT(kinds("worker:w7"), ElementsAre(claimed.kind.str()));
  EXPECT_THAT(kinds("worker:w8"), IsEmpty());
}

TEST_P(BulkConformance, FilterAndFieldsHoldTogether) {
  submit(Submit{.lane = lane("gpu"), .kind = kind("a")});
  submit_kind("a");
  ListExecutions list{.lane = lane("gpu")};
  list.where = "kind:a";
  EXPECT_EQ(must(run(list)).executions.size(), 1u);
  list.where = "lane:default";
  EXPECT_EQ(error_of(list), Errc::invalid_input);
}

TEST_P(BulkConformance, FilterThatCannotBeMeantIsRefused) {
  for (const char* where :
       {"colour:red", "payload:x", "state:done", "state:failed OR lane:a", "kind:a*",
        "created:>-1h created:<-2h", "created:yesterday", "lane:", "priority:>9000"}) {
    ListExecutions list;
    list.where = where;
    const auto reply = run(list);
    ASSERT_FALSE(reply) << where;
    EXPECT_EQ(reply.error().code, Errc::invalid_input) << where;
    EXPECT_THAT(reply.error().message, HasSubstr("where, position ")) << where;
    EXPECT_EQ(error_of(bulk(BulkAction::cancel, where)), Errc::invalid_input) << where;
  }
}

TEST_P(BulkConformance, ListsComeInOtherOrders) {
  std::vector<ExecutionId> ids;
  for (const char* name : {"a", "b", "c", "d"}) {
    ids.push_back(
        submit(Submit{.kind = kind(name), .priority = 10 * static_cast<int>(ids.size() % 2)}));
    advance(1ms);
  }
  must(run(Cancel{.id = ids[1]}));
  advance(1ms);
  must(run(Cancel{.id = ids[0]}));
  EXPECT_THAT(kinds("", ListOrder::oldest), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(kinds("state:cancelled", ListOrder::ended_newest), ElementsAre("a", "b"));
  EXPECT_THAT(kinds("state:cancelled", ListOrder::ended_oldest), ElementsAre("b", "a"));
  EXPECT_THAT(kinds("priority:>=10", ListOrder::oldest), ElementsAre("b", "d"));
  const auto by_priority = kinds("", ListOrder::priority_highest);
  EXPECT_THAT(std::vector(by_priority.begin(), by_priority.begin() + 2),
              UnorderedElementsAre("b", "d"));
  // Page after page.
  ListExecutions page{.limit = 3};
  page.order = ListOrder::priority_lowest;
  const auto first = must(run(page));
  EXPECT_EQ(first.executions.size(), 3u);
  page.cursor = first.next;
  EXPECT_EQ(must(run(page)).executions.size(), 1u);
  page.order = ListOrder::oldest;
  EXPECT_EQ(error_of(page), Errc::invalid_input) << "the cursor is of another order";
}

// ---- Jobs ----------------------------------------------------------------------------------------

TEST_P(BulkConformance, CancelsAllThatMatchAndNothingElse) {
  const auto a = submit_kind("a"), b = submit_kind("b"), ended = submit_kind("a");
  must(run(Cancel{.id = ended, .reason = "before"}));
  auto start = bulk(BulkAction::cancel, "kind:a");
  start.work.reason = "wrong";
  EXPECT_EQ(run_job(std::move(start)), "completed: 2 matched, 1 done, 0 failed, 1 skipped");
  EXPECT_EQ(info(a).cancel_reason, "wrong");
  EXPECT_EQ(info(ended).cancel_reason, "before");
  EXPECT_EQ(state_of(b), ExecutionState::waiting);
}

TEST_P(BulkConformance, LeavesAloneWhatIsSubmittedAfterTheStart) {
  submit_kind("a");
  const auto job = *must(run(bulk(BulkAction::cancel, "kind:a"))).id;
  advance(1ms);
  const auto later = submit_kind("a");
  EXPECT_EQ(outcome(finish(job)), "completed: 1 matched, 1 done, 0 failed, 0 skipped");
  EXPECT_EQ(state_of(later), ExecutionState::waiting);
}

TEST_P(BulkConformance, WalksOverMoreThanOneSlice) {
  constexpr std::size_t count = 2'300;
  for (std::size_t i = 0; i < count;) {
    SubmitMany many;
    for (; i < count && many.executions.size() < limits::batch_items_max; ++i)
      many.executions.push_back({.kind = kind(i % 2 == 0 ? "even" : "odd")});
    must(run(std::move(many)));
    advance(1ms);
  }
  EXPECT_EQ(run_job(bulk(BulkAction::cancel, "kind:even")),
            "completed: 1150 matched, 1150 done, 0 failed, 0 skipped");
  EXPECT_EQ(run_job(bulk(BulkAction::cancel, "state:waiting,cancelled")),
            "completed: 2300 matched, 1150 done, 0 failed, 1150 skipped");
}

TEST_P(BulkConformance, ReplaysWhatEnded) {
  const auto ended = submit_kind("a"), waits = submit_kind("a");
  must(run(Cancel{.id = ended}));
  EXPECT_EQ(run_job(bulk(BulkAction::replay, "kind:a")),
            "completed: 2 matched, 1 done, 0 failed, 1 skipped");
  EXPECT_EQ(state_of(ended), ExecutionState::waiting);
  EXPECT_EQ(info(ended).replays, 1u);
  EXPECT_EQ(info(waits).replays, 0u);
}

TEST_P(BulkConformance, ShowsWhatFailed) {
  const auto id = submit(Submit{.kind = kind("a"), .policy = {.max_replay_count = 0}});
  must(run(Cancel{.id = id}));
  const auto job = finish(*must(run(bulk(BulkAction::replay, "kind:a"))).id);
  EXPECT_EQ(outcome(job), "completed: 1 matched, 0 done, 1 failed, 0 skipped");
  ASSERT_EQ(job.failures.size(), 1u);
  EXPECT_EQ(job.failures[0].id, id);
  EXPECT_EQ(job.failures[0].error, "max_replays_exhausted");
}

TEST_P(BulkConformance, ChangesPrioritiesAndTags) {
  const auto id = submit(Submit{.kind = kind("a"), .tags = {{"app.old", "1"}}});
  auto start = bulk(BulkAction::priority, "kind:a");
  start.work.priority = 50;
  EXPECT_EQ(run_job(start), "completed: 1 matched, 1 done, 0 failed, 0 skipped");
  EXPECT_EQ(info(id).priority, 50);
  auto tags = bulk(BulkAction::tags, "tag:app.old=1");
  tags.work.set = {{"app.seen", "yes"}};
  tags.work.remove = {"app.old"};
  EXPECT_EQ(run_job(tags), "completed: 1 matched, 1 done, 0 failed, 0 skipped");
  EXPECT_EQ(info(id).tags, (Tags{{"app.seen", "yes"}}));
}

TEST_P(BulkConformance, DeletesWhatEnded) {
  const auto ended =
      submit(Submit{.idempotency_key = *IdempotencyKey::parse("once"), .kind = kind("a")});
  const auto waits = submit_kind("a");
  must(run(Cancel{.id = ended}));
  EXPECT_EQ(run_job(bulk(BulkAction::remove, "kind:a")),
            "completed: 2 matched, 1 done, 0 failed, 1 skipped");
  EXPECT_EQ(error_of(GetExecution{ended}), Errc::execution_not_found);
  EXPECT_EQ(state_of(waits), ExecutionState::waiting);
  // Its idempotency key is free.
  EXPECT_FALSE(
      must(run(Submit{.idempotency_key = *IdempotencyKey::parse("once"), .kind = kind("a")}))
          .duplicate);
}

TEST_P(BulkConformance, RedrivesTheFlowsOfNodesThatMatch) {
  SubmitFlow flow;
  flow.nodes = {{.name = *NodeName::parse("one"), .kind = kind("a")},
                {.name = *NodeName::parse("two"), .kind = kind("b")}};
  const auto id = must(run(flow)).flow.id;
  must(run(CancelFlow{.id = id}));
  home_->run_scanners();
  submit_kind("a");
  advance(1ms);
  EXPECT_EQ(run_job(bulk(BulkAction::redrive, "kind:a")),
            "completed: 2 matched, 1 done, 0 failed, 1 skipped");
  home_->run_scanners();
  EXPECT_EQ(must(run(GetFlow{.id = id})).state, FlowState::running);
  EXPECT_EQ(run_job(bulk(BulkAction::remove, fmt::format("flow:{}", id.str()))),
            "completed: 2 matched, 0 done, 0 failed, 2 skipped")
      << "nodes go with their flow";
}

TEST_P(BulkConformance, DryRunOnlyCounts) {
  for (int i = 0; i < 3; ++i) submit_kind("a");
  auto start = bulk(BulkAction::cancel, "kind:a created:>-1h");
  start.dry_run = true;
  const auto reply = must(run(start));
  EXPECT_EQ(reply.id, std::nullopt);
  EXPECT_EQ(reply.matches, 3u);
  EXPECT_FALSE(reply.at_least);
  EXPECT_THAT(must(run(ListBulks{})).bulks, IsEmpty());
  home_->run_scanners();
  EXPECT_EQ(kinds("state:waiting").size(), 3u);
}

TEST_P(BulkConformance, StartIsSafeToRepeat) {
  submit_kind("a");
  auto start = bulk(BulkAction::cancel, "kind:a created:>-1h");
  start.id = some_bulk_id(1);
  EXPECT_FALSE(must(run(start)).duplicate);
  advance(1s);
  const auto again = must(run(start));
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.id, start.id);
  EXPECT_EQ(outcome(finish(*start.id)), "completed: 1 matched, 1 done, 0 failed, 0 skipped");
  EXPECT_TRUE(must(run(start)).duplicate);
  auto other = start;
  other.where = "kind:b";
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
  other = start;
  other.work.action = BulkAction::replay;
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
}

TEST_P(BulkConformance, GoesOnAfterARestart) {
  const auto id = submit_kind("a");
  const auto job = *must(run(bulk(BulkAction::cancel, "kind:a"))).id;
  home_->restart();
  advance(1min);
  EXPECT_EQ(outcome(finish(job)), "completed: 1 matched, 1 done, 0 failed, 0 skipped");
  EXPECT_EQ(state_of(id), ExecutionState::cancelled);
  home_->restart();
  EXPECT_EQ(must(run(GetBulk{job})).state, BulkState::completed);
}

TEST_P(BulkConformance, StopEndsAJobOnce) {
  const auto id = submit_kind("a");
  const auto job = *must(run(bulk(BulkAction::cancel, "kind:a"))).id;
  EXPECT_EQ(must(run(StopBulk{job})).state, BulkState::stopped);
  EXPECT_EQ(outcome(finish(job)), "stopped: 0 matched, 0 done, 0 failed, 0 skipped");
  EXPECT_EQ(state_of(id), ExecutionState::waiting);
  EXPECT_EQ(error_of(StopBulk{job}), Errc::bulk_not_running);
  EXPECT_EQ(error_of(StopBulk{some_bulk_id(7)}), Errc::bulk_not_found);
  EXPECT_EQ(error_of(GetBulk{some_bulk_id(7)}), Errc::bulk_not_found);
}

TEST_P(BulkConformance, JobsAreListedByNamespace) {
  std::vector<BulkId> ids;
  for (int i = 1; i <= 3; ++i) {
    auto start = bulk(BulkAction::cancel, "kind:a");
    start.id = some_bulk_id(i);
    if (i == 2) start.ns = ns("tenant");
    must(run(start));
    ids.push_back(*start.id);
  }
  const auto first = must(run(ListBulks{.limit = 1}));
  ASSERT_EQ(first.bulks.size(), 1u);
  EXPECT_EQ(first.bulks[0].id, ids[0]);
  const auto second = must(run(ListBulks{.after = first.next}));
  ASSERT_EQ(second.bulks.size(), 1u);
  EXPECT_EQ(second.bulks[0].id, ids[2]);
  EXPECT_EQ(must(run(ListBulks{.ns = ns("tenant")})).bulks.size(), 1u);
}

TEST_P(BulkConformance, ANamespaceRunsSoManyAtATime) {
  for (std::uint32_t i = 0; i < limits::bulks_running_max; ++i)
    must(run(bulk(BulkAction::cancel, "kind:a")));
  EXPECT_EQ(error_of(bulk(BulkAction::cancel, "kind:a")), Errc::resource_exhausted);
  auto other = bulk(BulkAction::cancel, "kind:a");
  other.ns = ns("tenant");
  must(run(other));
  home_->run_scanners();
  must(run(bulk(BulkAction::cancel, "kind:a")));
}

TEST_P(BulkConformance, JobsAreForgottenInTime) {
  const auto job = *must(run(bulk(BulkAction::cancel, "kind:a"))).id;
  home_->run_scanners();
  pass(limits::bulk_retention - 1min);
  EXPECT_EQ(must(run(GetBulk{job})).state, BulkState::completed);
  pass(3min);
  EXPECT_EQ(error_of(GetBulk{job}), Errc::bulk_not_found);
  EXPECT_THAT(must(run(ListBulks{})).bulks, IsEmpty());
}

TEST_P(BulkConformance, WrongJobsAreRefused) {
  EXPECT_EQ(error_of(bulk(BulkAction::cancel, "")), Errc::invalid_input);
  EXPECT_EQ(error_of(bulk(BulkAction::cancel, "  ")), Errc::invalid_input);
  EXPECT_EQ(error_of(bulk(BulkAction::priority, "kind:a")), Errc::invalid_input);
  EXPECT_EQ(error_of(bulk(BulkAction::tags, "kind:a")), Errc::invalid_input);
  auto cancel = bulk(BulkAction::cancel, "kind:a");
  cancel.work.priority = 1;
  EXPECT_EQ(error_of(cancel), Errc::invalid_input);
  auto priority = bulk(BulkAction::priority, "kind:a");
  priority.work.priority = limits::priority_max + 1;
  EXPECT_EQ(error_of(priority), Errc::invalid_input);
  auto tags = bulk(BulkAction::tags, "kind:a");
  tags.work.set = {{"NoTag", "1"}};
  EXPECT_EQ(error_of(tags), Errc::invalid_tag_key);
  EXPECT_THAT(must(run(ListBulks{})).bulks, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(, BulkConformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ff::conformance
