// Budgets and quotas at the moment when work is about to start.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "engine/engine_metrics.hpp"
#include "engine/starting/budget_checks.hpp"
#include "store/store.hpp"

namespace ff {

// Why something may not start now.
struct Refused {
  BlockingReason reason{};
  std::string detail;
  bool unreadable = false;                    // nobody knows whether there is room
  std::optional<std::string> dimension = {};  // of a budget, that is used up
  std::optional<TimePoint> until = {};        // of a budget: its next reset
  bool is_news = false;                       // worth a line in the log
};

// The reason why a budget or a quota refuses a start, as a sentence. None: there is room.
std::optional<Refused> refusal_of(const BudgetId& budget, const Result<core::BudgetCheck>& check);
std::optional<Refused> refusal_of(const QuotaId& quota, const Result<core::AdmitReply>& reply);

// May start: with the token of its quota, if it has one.
struct Chosen {
  ExecutionId id;
  std::optional<QuotaId> quota = {};
  std::optional<core::QuotaToken> token = {};
};

// Each budget is looked at once in a scheduling cycle, and once for all cycles that look at it at the same time; one
// that had no room a moment ago not at all. What has no budget and no quota passes without a look. Whatever cannot be
// read keeps work that needs it from starting. Thread-safe.
class StartGate {
 public:
  using Resource = std::variant<BudgetId, QuotaId>;

  // `on_closed` hears when a quota without room should be looked at again; `mint` makes token ids.
  StartGate(store::Store& store, EngineMetrics& metrics, std::function<QuotaTokenId()> mint,
            std::function<void(Millis)> on_closed)
      : store_(store),
        metrics_(metrics),
        mint_(std::move(mint)),
        on_closed_(std::move(on_closed)),
        checks_(store) {}

  struct Cycle {
    Namespace ns;
    store::Closed closed = {};  // found to have no room; not asked again in this cycle
    std::set<BudgetId> open = {};
    std::optional<Error> failure =
        {};  // of a budget or quota that could not be read; it counts as closed
  };
  asio::awaitable<Cycle> begin(const Namespace& ns);

  // Lets in what may start. The others are put back, and the cycle knows what closed them out, unless that
  // opened while it was asked.
  asio::awaitable<std::vector<Chosen>> admit(Cycle& cycle, std::vector<store::Candidate> taken);

  // For one that was not taken from the ready ones: says why it is refused.
  Async<Chosen> admit_one(const Namespace& ns, ExecutionId id, core::Needs needs);

  // Of what was let in and did not start.
  asio::awaitable<void> give_back(std::vector<Chosen> unused);

  // A slot of the quota is about to be free.
  void expect_opening(const QuotaId& quota);
  // True if work that it refused may still wait for it.
  bool opened(const Resource& what);

  // It was spent from, or deleted: claims from now on look at it themselves.
  void changed(const BudgetId& budget) { checks_.changed(budget); }

  // A resource that refused work. `until`: it has no room before then.
  struct Wanted {
    Resource what;
    std::optional<TimePoint> until = {};
  };
  std::vector<Wanted> wanted() const;
  // No work waits for it.
  void not_wanted(const Resource& what);

  // Whether what is attached to an execution is there, in its own namespace.
  Async<void> attachable(const Namespace& ns, const Policy& policy);
  void forget(const Resource& attached);

  // An execution with max_running starts under the quota of its key, which is made if it is not there.
  Async<void> keep_limit(const Namespace& ns, const LaneId& lane, Policy& policy);

 private:
  struct Refusal {  // the last one by a resource
    Namespace ns;
    TimePoint at;
    TimePoint looked_at;  // that it has no room; later than `at` if nobody wanted it then
    std::optional<TimePoint> until = {};
    bool over = false;                      // it may have room again
    std::optional<TimePoint> told_at = {};  // when the log last said so
    bool told = false;                      // and has not said since that there is room again
  };
  // Questions under way. An opening may be heard before the refusal that it makes out of date.
  struct Questions {
    std::size_t count = 0;
    std::uint64_t openings = 0;
  };
  // Notes which resources open while they are asked.
  class Asking {
   public:
    Asking(StartGate& gate, const std::vector<store::Candidate>& candidates);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

    // The cycle asks again for those.
    void reopen(Cycle& cycle) const;

   private:
    StartGate& gate_;
    std::map<Resource, std::uint64_t> openings_before_;
  };
  struct Asked {
    std::vector<Chosen> chosen;
    std::vector<std::pair<ExecutionId, Refused>> refused;
  };

  using BudgetRefusals = std::map<BudgetId, Refused>;
  asio::awaitable<BudgetRefusals> check_budgets(Cycle& cycle,
                                                const std::vector<store::Candidate>& taken);
  asio::awaitable<BudgetRefusals> look_at(Cycle& cycle, std::vector<BudgetId> budgets);
  asio::awaitable<void> ask_quotas(Cycle& cycle, std::vector<store::Candidate> wanting,
                                   Asked& asked);
  asio::awaitable<void> put_back(std::vector<ExecutionId> ids);
  // True if the log should tell of it: once a minute is enough for a quota that fills up all the time.
  bool note_refusal(const Cycle& cycle, const Resource& what, std::optional<TimePoint> until);
  bool end_refusal(const Resource& what);  // under the lock; false: it refused nothing

  store::Store& store_;
  EngineMetrics& metrics_;
  std::function<QuotaTokenId()> mint_;
  std::function<void(Millis)> on_closed_;
  BudgetChecks checks_;
  mutable std::mutex mutex_;
  std::map<Resource, Refusal> refusals_;
  std::map<Resource, Questions> questions_;
  std::map<std::pair<Namespace, Resource>, TimePoint> attachable_;
  struct KeptLimit {
    std::uint64_t max = 0;
    TimePoint at;
  };
  std::map<QuotaId, KeptLimit> kept_limits_;  // of fairness keys
};

}  // namespace ff
