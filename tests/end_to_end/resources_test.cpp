// Budgets, quotas and workers on the command line.
#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* missing_uuid = "01920000-0000-7000-8000-000000000001";

class ResourcesCliTest : public CliTest {
 protected:
  ResourcesCliTest() : server_(serve("server")) {}

  std::string created(Words arguments) { return trimmed(out(std::move(arguments))); }

  std::unique_ptr<Process> server_;
};

TEST_F(ResourcesCliTest, BudgetIsCreatedSpentReleasedResetAndDeleted) {
  const auto id = created({"budgets", "create", "--hard", "tokens=10", "--soft", "tokens=5",
                           "--reset-every", "1d", "--on-hard", "reject"});
  EXPECT_EQ(out({"budgets", "report", id, "tokens=4", "--dedup-key", "once", "--json"}),
            "{\"outcome\":\"applied\"}\n");
  EXPECT_THAT(out({"budgets", "report", id, "tokens=4", "--dedup-key", "once"}),
              HasSubstr("already_applied"));
  EXPECT_THAT(out({"budgets", "report", id, "tokens=2", "requests=1", "--execution", missing_id}),
              HasSubstr("soft_breach"));
  const auto refused = ff({"budgets", "report", id, "tokens=5"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.out, HasSubstr("hard_breach"));
  EXPECT_THAT(out({"budgets", "list"}),
              ::testing::AllOf(HasSubstr(id), HasSubstr("requests 1, tokens 6/10")));
  EXPECT_THAT(out({"budgets", "release", id, missing_id, "--json"}),
              ::testing::AllOf(HasSubstr("\"tokens\":2"), HasSubstr("\"requests\":1")));
  EXPECT_THAT(out({"budgets", "show", id}),
              ::testing::AllOf(HasSubstr("usage.tokens"), HasSubstr("1d")));
  EXPECT_THAT(out({"budgets", "reset", id}), HasSubstr("next_reset_at"));
  EXPECT_THAT(out({"budgets", "list"}), HasSubstr("tokens 0/10"));
  out({"budgets", "delete", id});
  EXPECT_EQ(ff({"budgets", "show", id}).exit_code, 3);
}

TEST_F(ResourcesCliTest, CreatingWithAnIdIsSafeToRepeat) {
  const Words create{"budgets", "create", "--id", missing_uuid, "--hard", "tokens=1"};
  EXPECT_EQ(created(create), missing_uuid);
  EXPECT_EQ(created(create), missing_uuid);
  EXPECT_EQ(ff({"budgets", "create", "--id", missing_uuid, "--hard", "tokens=2"}).exit_code, 4);
}

TEST_F(ResourcesCliTest, WrongLimitsAreRefused) {
  EXPECT_EQ(ff({"budgets", "create", "--hard", "tokens"}).exit_code, 2);
  EXPECT_EQ(ff({"budgets", "create", "--hard", "tokens=many"}).exit_code, 2);
  EXPECT_EQ(ff({"budgets", "create", "--hard", "tokens=-1"}).exit_code, 2);
  EXPECT_EQ(ff({"budgets", "create", "--hard", "tokens=1", "--on-hard", "explode"}).exit_code, 2);
  EXPECT_EQ(ff({"budgets", "report", missing_uuid, "tokens=1"}).exit_code, 3);
  EXPECT_EQ(ff({"quotas", "show", missing_uuid}).exit_code, 3);
  EXPECT_EQ(ff({"workers", "show", "nobody"}).exit_code, 3);
}

TEST_F(ResourcesCliTest, ListsComeInPages) {
  for (int i = 0; i < 3; ++i) created({"budgets", "create", "--hard", "tokens=1"});
  const auto page = ff({"budgets", "list", "--limit", "2", "--json"});
  EXPECT_EQ(std::ranges::count(page.out, '\n'), 2);
  EXPECT_THAT(page.err, HasSubstr("go on with --after"));
  EXPECT_EQ(std::ranges::count(out({"budgets", "list", "--all", "--json"}), '\n'), 3);
}

TEST_F(ResourcesCliTest, QuotaIsCreatedShownAndDeleted) {
  const auto id = created(
      {"quotas", "create", "--max-per-window", "100", "--window", "1m", "--max-concurrent", "4"});
  EXPECT_THAT(out({"quotas", "list"}),
              ::testing::AllOf(HasSubstr(id), HasSubstr("0/100 per 1m"), HasSubstr("0/4")));
  EXPECT_THAT(out({"quotas", "show", id, "--json"}), HasSubstr("\"max_concurrent\":4"));
  out({"quotas", "delete", id});
  EXPECT_EQ(ff({"quotas", "show", id}).exit_code, 3);
}

TEST_F(ResourcesCliTest, WhySaysWhatAnExecutionWaitsFor) {
  const auto budget = created({"budgets", "create", "--hard", "tokens=1"});
  const auto twice = ff({"budgets", "report", budget, "tokens=1", "tokens=2"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("'tokens' is given twice"));
  out({"budgets", "report", budget, "tokens=1"});
  const auto id = submit({"k", "--budget", budget});
  EXPECT_THAT(out({"why", id}),
              ::testing::AllOf(HasSubstr("waiting_for_budget"), HasSubstr("tokens 1/1")));
  EXPECT_THAT(out({"why", id, "--json"}), HasSubstr("\"obstacles\":["));
  EXPECT_EQ(ff({"why", missing_id}).exit_code, 3);
}

TEST_F(ResourcesCliTest, WhyTellsHowToCreateADeletedQuotaAgain) {
  const auto quota = created({"quotas", "create", "--max-concurrent", "1"});
  const auto id = submit({"k", "--quota", quota});
  out({"quotas", "delete", quota});
  EXPECT_THAT(out({"why", id}),
              HasSubstr("ff quotas create --id " + quota + " --max-concurrent LIMIT"));
}

TEST_F(ResourcesCliTest, WorkersAreListedAndDrained) {
  const auto worker =
      std::make_unique<Process>(ff_command({"work", "cat", "--id", "w1"}, {"FF_URL=" + url_}));
  while (out({"workers", "list"}).find("w1") == std::string::npos) {
  }
  EXPECT_THAT(out({"workers", "show", "w1"}), HasSubstr("draining"));
  EXPECT_THAT(out({"workers", "drain", "w1", "--json"}), HasSubstr("\"draining\":true"));
  EXPECT_THAT(out({"workers", "list"}), HasSubstr("draining"));
  EXPECT_THAT(out({"workers", "drain", "w1", "--undo", "--json"}), HasSubstr("\"draining\":false"));
  EXPECT_EQ(submit({"k", "hello", "--wait"}), "hello");
  worker->signal(SIGTERM);
  worker->wait();
  EXPECT_THAT(out({"workers", "list"}), Not(HasSubstr("w1")));
}

}  // namespace
}  // namespace ff::test
