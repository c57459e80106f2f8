// Shared helpers and fixture of the tests of resources.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "store/embedded/test_support.hpp"
#include "tests/support/faulty_env.hpp"

namespace ff::embedded {

inline DedupKey dedup(const std::string& text) { return *DedupKey::parse(text); }
inline WorkerId worker(const char* name) { return *WorkerId::parse(name); }
inline QuotaTokenId token() { return QuotaTokenId{random_uuid()}; }

class DeskTest : public StoreTest {
 protected:
  ~DeskTest() override { close(); }  // before the disk goes

  store::Store& open_on_disk(store::Durability durability = store::Durability::standard) {
    auto faulty = options();
    faulty.env = disk_.env();
    faulty.durability = durability;
    return open(faulty);
  }
  void cut_power() {
    disk_.fail(test::DiskFault::power_cut);
    close();
    disk_.power_on(test::Unsynced::lost);
  }

  BudgetId budget(BudgetSpec spec = {}) {
    const BudgetId id{random_uuid()};
    must(run(CreateBudget{.id = id, .spec = std::move(spec)}));
    return id;
  }
  QuotaId quota(QuotaSpec spec) {
    const QuotaId id{random_uuid()};
    must(run(CreateQuota{.id = id, .spec = spec}));
    return id;
  }
  UsageOutcome report(const BudgetId& id, Amounts amounts, std::optional<DedupKey> key = {},
                      std::optional<ExecutionId> execution = {}) {
    return must(run(ReportUsage{.id = id,
                                .amounts = std::move(amounts),
                                .dedup_key = std::move(key),
                                .execution = execution}))
        .outcome;
  }
  Amounts usage(const BudgetId& id) { return must(run(GetBudget{id})).usage; }
  Amounts release(const BudgetId& id, const ExecutionId& execution) {
    return must(run(ReleaseUsage{.id = id, .execution = execution})).released;
  }
  std::optional<core::QuotaToken> admit(const QuotaId& id, QuotaTokenId with = token()) {
    return must(run(core::Admit{.quota = id, .token = with, .execution = create().id})).token;
  }
  QuotaInfo info(const QuotaId& id) { return must(run(GetQuota{id})); }

  // An execution that runs under a quota.
  ExecutionId start_under(const QuotaId& id) {
    const auto execution = submit({.policy = {.quota = id}});
    auto lease = lease_grant(execution);
    lease.token = admit(id);
    must(run(std::move(lease)));
    return execution;
  }

  std::vector<std::string> openings_of(store::Store& store, const std::function<void()>& change) {
    std::mutex mutex;
    std::vector<std::string> told;
    store.set_sinks({.on_opening = [&](const store::Opening& opening) {
      const std::lock_guard lock(mutex);
      told.push_back(std::visit([](const auto& id) { return id.str(); }, opening.of));
    }});
    change();
    close();
    return told;
  }

  template <class Op>
  Errc error_of(Op operation) {
    const auto reply = run(std::move(operation));
    return reply ? Errc::internal : reply.error().code;
  }

  test::FaultyEnv disk_;
  const ExecutionId work_ = create().id;
};

}  // namespace ff::embedded
