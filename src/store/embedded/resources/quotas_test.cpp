#include "store/embedded/resources/quotas.hpp"

#include "store/embedded/resources/test_support.hpp"

namespace ff::embedded {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using QuotasTest = DeskTest;

TEST_F(QuotasTest, MakesAQuotaOnce) {
  open();
  const CreateQuota command{.id = QuotaId{random_uuid()}, .spec = {.max_concurrent = 1}};
  EXPECT_FALSE(must(run(command)).duplicate);
  EXPECT_TRUE(must(run(command)).duplicate);
  auto other = command;
  other.spec.max_concurrent = 2;
  EXPECT_EQ(error_of(other), Errc::duplicate_mismatch);
  EXPECT_THAT(must(run(ListQuotas{})).quotas, SizeIs(1));
  EXPECT_THAT(must(run(core::AllQuotas{})), ElementsAre(*command.id));
}

TEST_F(QuotasTest, KnowsNoQuotaThatWasNotMade) {
  open();
  const QuotaId unknown{random_uuid()};
  EXPECT_EQ(error_of(GetQuota{unknown}), Errc::quota_not_found);
  EXPECT_EQ(error_of(DeleteQuota{unknown}), Errc::quota_not_found);
  EXPECT_EQ(error_of(core::Admit{.quota = unknown, .token = token(), .execution = work_}),
            Errc::quota_not_found);
  EXPECT_TRUE(run(core::ReleaseToken{.quota = unknown, .token = token()}));
  EXPECT_THAT(must(run(core::HeldTokens{.quota = unknown, .before = clock_->now()})), IsEmpty());
}

TEST_F(QuotasTest, LetsNoMoreInThanAQuotaAllows) {
  open();
  const auto id = quota({.window = 60s, .max_per_window = 100, .max_concurrent = 7});
  std::atomic<int> let_in = 0;
  {
    std::vector<std::jthread> starters;
    for (int i = 0; i < 4; ++i)
      starters.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          const auto admitted = admit(id);
          if (!admitted) continue;
          ++let_in;
          EXPECT_LE(info(id).running, 7u);
          must(run(core::ReleaseToken{.quota = id, .token = admitted->id}));
        }
      });
  }
  EXPECT_LE(let_in, 100);
  EXPECT_EQ(info(id).running, 0u);
  EXPECT_EQ(info(id).in_window, static_cast<std::uint64_t>(let_in));
}

TEST_F(QuotasTest, DeletesAQuotaWithItsWindow) {
  open();
  const auto id = quota({.window = 60s, .max_per_window = 1});
  EXPECT_TRUE(admit(id));
  must(run(DeleteQuota{id}));
  must(run(CreateQuota{.id = id, .spec = {.window = 60s, .max_per_window = 1}}));
  open();
  EXPECT_TRUE(admit(id));
  EXPECT_FALSE(admit(id));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(QuotasTest, ForgetsStartsThatArePast) {
  open();
  const auto id = quota({.window = 60s, .max_per_window = 5});
  admit(id);
  clock_->advance(30s);
  admit(id);
  EXPECT_EQ(check().index_entries, 2u);
  open();
  clock_->advance(30s);
  must(run(core::ReconcileQuotas{}));
  EXPECT_EQ(check().index_entries, 1u);
  open();
  clock_->advance(60s);
  admit(id);
  EXPECT_EQ(check().index_entries, 1u) << "an admission forgets them, too";
}

TEST_F(QuotasTest, TellsWhenAQuotaMayHaveRoom) {
  auto& store = open();
  QuotaId id;
  const auto told = openings_of(store, [&] {
    id = quota({.max_per_window = 5, .max_concurrent = 5});  // 1
    const auto used = *admit(id);
    const auto unused = *admit(id);
    must(run(core::ReleaseToken{.quota = id, .token = used.id}));  // 2
    must(run(core::ReleaseToken{.quota = id, .token = used.id}));
    must(run(core::ReleaseToken{.quota = id, .token = unused.id, .unused = true}));  // 3
    must(run(DeleteQuota{id}));                                                      // 4
  });
  EXPECT_THAT(told, SizeIs(4));
  EXPECT_THAT(told, ::testing::Each(id.str()));
}

}  // namespace
}  // namespace ff::embedded
