#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

class Audit : public Conformance {
 protected:
  std::vector<AuditEntry> entries(ReadAudit query = {}) {
    return must(run(std::move(query))).entries;
  }
  // "Cancel ok, PauseLane ok": the newest first.
  static std::string text_of(const std::vector<AuditEntry>& entries) {
    std::string all;
    for (const auto& each : entries)
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", each.what, each.outcome);
    return all;
  }
  std::string log(ReadAudit query = {}) { return text_of(entries(std::move(query))); }
  void pause(const char* name, Namespace tenant = default_namespace()) {
    must(run(PauseLane{.lane = lane(name), .ns = std::move(tenant)}));
  }
};

TEST_P(Audit, TellsWhoDidWhatAndWhen) {
  const auto id = submit();
  must(run(Cancel{.id = id, .reason = "not wanted"}));
  const auto kept = entries();
  ASSERT_EQ(kept.size(), 1u);
  const auto& entry = kept.front();
  EXPECT_EQ(entry.at, now());
  EXPECT_EQ(entry.what, "Cancel");
  EXPECT_EQ(entry.subject, id.str());
  EXPECT_EQ(entry.outcome, "ok");
  EXPECT_THAT(entry.details, ElementsAre(Pair("reason", "not wanted")));
  const auto caller = must(run(WhoAmI{}));
  EXPECT_EQ(entry.who, caller.name);
  EXPECT_THAT(entry.from, Not(IsEmpty()));
}

TEST_P(Audit, TellsOfRefusals) {
  EXPECT_EQ(error_of(Cancel{.id = id_in(1, 1)}), Errc::execution_not_found);
  EXPECT_EQ(error_of(DrainWorker{.worker = worker("nobody")}), Errc::worker_not_found);
  EXPECT_EQ(log(), "DrainWorker worker_not_found, Cancel execution_not_found");
}

TEST_P(Audit, DoesNotKeepWhatProgramsDoAllTheTime) {
  const auto id = submit();
  EXPECT_TRUE(run(SendSignal{.id = id, .name = must(SignalName::parse("news"))}));
  must(run(complete(claim())));
  EXPECT_EQ(error_of(PauseLane{}), Errc::invalid_input);
  EXPECT_EQ(log(), "");
}

TEST_P(Audit, HasEveryKindOfAction) {
  const auto id = submit();
  must(run(ChangePriority{.id = id, .priority = 7}));
  must(run(SetTags{.id = id, .set = {{"app.secret", "value"}}, .remove = {"app.other"}}));
  const auto budget = must(run(CreateBudget{.spec = {.hard_limits = {{"tokens", 5}}}})).id;
  must(run(ResetBudget{budget}));
  must(run(DeleteBudget{budget}));
  pause("gpu");
  must(run(ResumeLane{.lane = lane("gpu")}));
  EXPECT_EQ(log(),
            "ResumeLane ok, PauseLane ok, DeleteBudget ok, ResetBudget ok, CreateBudget ok, "
            "SetTags ok, ChangePriority ok");
  const auto kept = entries();
  EXPECT_EQ(kept[1].subject, "gpu");
  EXPECT_EQ(kept[4].subject, budget.str());
  EXPECT_THAT(kept[4].details, Contains(Pair("limits", "tokens=5")));
  EXPECT_THAT(kept[5].details, ElementsAre(Pair("remove", "app.other"), Pair("set", "app.secret")));
  EXPECT_THAT(kept[6].details, ElementsAre(Pair("priority", "7")));
}

TEST_P(Audit, HasNoSecrets) {
  const std::string hex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
  must(run(RotateWaitpointSecret{.new_kid = must(KeyId::parse("k9")),
                                 .new_secret = must(WaitpointSecret::parse(hex))}));
  const auto kept = entries();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].subject, "k9");
  EXPECT_THAT(kept[0].details, IsEmpty());
}

TEST_P(Audit, CutsLongTexts) {
  const auto id = submit();
  must(run(Cancel{.id = id, .reason = std::string(4'000, 'x')}));
  EXPECT_EQ(entries().at(0).details.at("reason").size(), limits::audit_text_bytes_max);
}

TEST_P(Audit, IsReadInPages) {
  for (const char* name : {"a", "b", "c", "d", "e"}) pause(name);
  std::string subjects;
  ReadAudit query{.limit = 2};
  for (int pages = 0; pages < 5; ++pages) {
    const auto page = must(run(query));
    EXPECT_LE(page.entries.size(), 2u);
    for (const auto& each : page.entries) subjects += each.subject;
    if (!page.next) break;
    query.after = page.next;
  }
  EXPECT_EQ(subjects, "edcba");
}

TEST_P(Audit, IsFilteredByTimeCallerNamespaceAndOperation) {
  pause("a");
  const auto early = now();
  advance(10s);
  pause("b", ns("other"));
  advance(10s);
  must(run(ResumeLane{.lane = lane("a")}));
  EXPECT_EQ(log({.since = early + 1s}), "ResumeLane ok, PauseLane ok");
  EXPECT_EQ(log({.until = early + 1s}), "PauseLane ok");
  EXPECT_EQ(log({.since = early + 1s, .until = early + 20s}), "PauseLane ok");
  EXPECT_EQ(log({.until = early}), "");
  EXPECT_EQ(log({.what = "ResumeLane"}), "ResumeLane ok");
  EXPECT_EQ(log({.who = "nobody"}), "");
  EXPECT_EQ(log({.who = must(run(WhoAmI{})).name}), log());
  const auto others = entries({.ns = ns("other")});
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].subject, "b");
  EXPECT_EQ(others[0].ns, ns("other"));
}

TEST_P(Audit, RefusesQueriesThatCannotBeMeant) {
  pause("a");
  EXPECT_EQ(error_of(ReadAudit{.after = "nonsense"}), Errc::invalid_input);
  EXPECT_EQ(error_of(ReadAudit{.limit = 0}), Errc::invalid_input);
  EXPECT_EQ(error_of(ReadAudit{.what = "Pause"}), Errc::invalid_input);
  EXPECT_EQ(error_of(ReadAudit{.what = "SendSignal"}), Errc::invalid_input);
  EXPECT_EQ(error_of(ReadAudit{.since = now(), .until = now()}), Errc::invalid_input);
}

TEST_P(Audit, SurvivesARestart) {
  pause("a");
  const auto before = entries();
  home_->restart();
  EXPECT_EQ(entries(), before);
  pause("b");
  EXPECT_EQ(log(), "PauseLane ok, PauseLane ok");
}

TEST_P(Audit, ForgetsWhatIsOld) {
  pause("a");
  advance(limits::audit_retention_default - 1s);
  pause("b");
  home_->run_scanners();
  EXPECT_EQ(entries().size(), 2u);
  pass(2s);
  const auto kept = entries();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].subject, "b");
  home_->restart();
  pause("c");
  EXPECT_EQ(entries().size(), 2u);
}

TEST_P(Conformance, CallerIsToldWhatItMayDo) {
  const auto caller = must(run(WhoAmI{}));
  EXPECT_THAT(caller.roles, ElementsAre(Role::admin));
  EXPECT_EQ(caller.ns, std::nullopt);
  EXPECT_FALSE(caller.needs_token);
  EXPECT_TRUE(caller.sees_payloads);
}

INSTANTIATE_TEST_SUITE_P(, Audit, ::testing::ValuesIn(home_kinds()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ff::conformance
