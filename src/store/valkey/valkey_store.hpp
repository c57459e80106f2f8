// The store whose state is in Valkey: every change is one call of the function library.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include <boost/asio/steady_timer.hpp>

#include "base/async/coroutine_group.hpp"
#include "base/async/runtime.hpp"
#include "base/async/wakeup.hpp"
#include "store/store.hpp"
#include "store/valkey/caches/own_event_filter.hpp"
#include "store/valkey/caches/ready_cache.hpp"
#include "store/valkey/caches/server_clock.hpp"
#include "store/valkey/caches/timer_mirror.hpp"
#include "store/valkey/calls/calls.hpp"
#include "store/valkey/calls/event_message.hpp"
#include "store/valkey/calls/resource_calls.hpp"
#include "store/valkey/calls/sent_call.hpp"
#include "store/valkey/confirmations.hpp"
#include "store/valkey/durability.hpp"
#include "store/valkey/keys.hpp"
#include "store/valkey/open.hpp"
#include "valkey/client.hpp"
#include "valkey/subscriber.hpp"

namespace ff::valkey {

// When an execution was created: where it stands in a list.
struct Moment {
  TimePoint at;
  ExecutionId id;
  auto operator<=>(const Moment&) const = default;
};

// Properties of a command that determine how its answer updates the caches of this process.
struct CommandTraits {
  RefusalContext refusal;
  bool is_lease = false;
  bool publishes = true;            // an event, if it changes anything
  bool tells_timer = false;         // its answer ends with the execution's next timer
  bool tells_of_readiness = false;  // its refusal means something for others who want the execution
  Version known_version = 0;        // of the execution when it was sent, if a refusal tells of that
  bool waits_for_disk = true;
};

class ValkeyStore final : public store::Store {
 public:
  using Options = StoreOptions;

  static Result<std::unique_ptr<store::Store>> open(Options options);
  ~ValkeyStore() override;

  void start(std::vector<store::AnyCall> calls) override;
  void set_event_sink(store::EventSink sink) override;
  void set_opening_sink(store::OpeningSink sink) override;
  PartitionIndex partition_count() const override { return partitions_; }
  TimePoint now() const override;
  void break_off() override;
  std::string list_cursor(TimePoint created_at, const ExecutionId& id) const override;
  Result<void> health() const override { return {}; }

 private:
  explicit ValkeyStore(Options options);
  Async<void> prepare();
  asio::awaitable<void> keep_up();

  template <class Command>
  void route(store::Call<Command>& call);
  // A command on its way.
  struct Sent {
    std::uint64_t number;
    CommandTraits traits;
    Request request;
  };
  template <class Command>
  Sent begin(store::Call<Command>& call);
  void send(Sent sent, std::shared_ptr<SentCall> call);
  void route(store::Call<core::Create>& call);
  void route(store::Call<core::LeaseGrant>& call);
  void route(store::Call<GetExecution>& call);
  void route(store::Call<GetPayload>& call);
  void route(store::Call<store::ReadResult>& call);
  void route(store::Call<GetAttempts>& call);
  void route(store::Call<GetLeaseHistory>& call);
  void route(store::Call<ListExecutions>& call);
  void route(store::Call<CountExecutions>& call);
  void route(store::Call<store::CountAll>& call);
  void route(store::Call<store::TakeReady>& call);
  void route(store::Call<store::PutBack>& call);
  void route(store::Call<store::TimersDue>& call);
  void route(store::Call<store::RetentionDue>& call);
  void route(store::Call<store::Reconcile>& call);
  void route(store::Call<store::FindEffects>& call);
  void route(store::Call<store::SettleEffects>& call);
  void route(store::Call<store::Probe>& call);
  void route(store::Call<Backup>& call);
  void route(store::Call<core::CheckLease>& call);
  void route(store::Call<core::HoldsToken>& call);
  void route(store::Call<store::PeekReady>& call);
  void route(store::Call<store::FindBlocked>& call);
  void route(store::Call<store::CountWaiting>& call);
  void route(store::Call<store::CountBlocked>& call);
  // Of a budget, a quota or workers (resources.cpp).
  void route_resource(store::AnyCall& any);
  template <class Op>
  void route_resource(store::Call<Op>& call);

  // Answers the call with what `tell` makes of the execution.
  template <class Query, class Tell>
  void read(store::Call<Query>& call, std::vector<std::string> arguments, Tell tell);
  // Runs a coroutine that answers the call.
  template <class Op, class Run>
  void answer_with(store::Call<Op>& call, Run run);

  void take_in(std::uint64_t number, const CommandTraits& traits, Result<std::vector<Reply>> list,
               SentCall& call);
  void learn(EventMessage message);

  using Done = std::move_only_function<void(Result<Reply>)>;
  // Sends it; if Valkey has lost the function library, loads it and sends it once more.
  void call_function(Request request, Done done);
  // The same for many, sent together; replies in the order of the requests.
  asio::awaitable<std::vector<Result<Reply>>> call_all(std::vector<Request> requests);
  Request request_for(const ExecutionId& id, FunctionCall function, std::uint64_t call) const;
  Request read_request(const ExecutionId& id, std::vector<std::string> arguments) const;

  // How many keys follow, and the keys: `key` and, in a cluster, one that never exists. While its slot
  // moves to another node, some of a partition's keys are here and some are there; with a key that is
  // missing the server says so (TRYAGAIN), instead of letting a function begin that it cannot finish.
  std::vector<std::string> with_keys(std::vector<std::string> command, std::string_view tag,
                                     std::string key) const;

  // Where a budget, a quota or the workers of a namespace are.
  struct Address {
    keys::Partition place;
    std::string key;
  };
  Address address_of(const Subject& subject) const;
  Request request_at(const Address& address, FunctionCall function, bool reads) const;
  template <class Op>
  void send_to_resource(store::Call<Op> call, FunctionCall function);
  struct SentQuestion {
    Address address;
    ResourceContext refusal;
    bool only_reads = false;
    bool waits_for_disk = false;
  };
  void send_question(SentQuestion question, Request request, std::shared_ptr<SentCall> call);
  template <class Create>
  void send_if_there_is_room(store::Call<Create>& call);
  // The first value that a function answers.
  Async<std::string> ask_at(const Address& address, FunctionCall function);
  void tell_opening(std::string_view message);

  // Handling of partitions that are moving to another node: the question waits for them, or
  // skips them until the next time.
  enum class Moving : std::uint8_t { wait, skip };
  struct Question {
    std::string function;
    std::vector<std::string> arguments;
    Moving moving = Moving::wait;
  };
  // A read-only function for partitions, each asked at its own node in one call per node.
  Async<std::vector<std::vector<Reply>>> ask(Question question,
                                             std::vector<keys::Partition> places);
  Async<std::vector<std::vector<Reply>>> ask(Question question,
                                             const std::vector<PartitionIndex>& partitions);
  Async<std::vector<Reply>> ask_node(NodeName node, std::vector<std::string> command,
                                     Moving moving);
  std::vector<PartitionIndex> all_partitions() const;

  template <class Id>
  Async<std::vector<Id>> find_ids(std::optional<Namespace> ns, std::optional<Id> after,
                                  std::size_t max);
  template <class Get, class Id>
  Async<std::vector<typename Get::Reply>> get_all(const std::vector<Id>& ids);
  Async<BudgetList> answer(ListBudgets query);
  Async<QuotaList> answer(ListQuotas query);
  Async<std::vector<BudgetId>> answer(core::AllBudgets query);
  Async<std::vector<QuotaId>> answer(core::AllQuotas query);
  Async<std::vector<WorkerInfo>> answer(core::LiveWorkers query);
  Async<core::BudgetsDue> answer(core::ResetsDue query);
  Async<std::vector<core::HeldToken>> answer(core::HeldTokens query);
  Async<std::vector<ExecutionId>> answer(core::LedgerOf query);
  Async<ff::Done> answer(core::ReconcileBudgets query);
  Async<ff::Done> answer(core::ReconcileQuotas query);
  Async<store::BlockedPage> find_blocked(store::FindBlocked query);
  Async<std::vector<store::WaitingCount>> count_waiting(store::CountWaiting query);
  Async<std::vector<store::BlockedCount>> count_blocked();
  Async<StateCounts> count(std::optional<Namespace> ns, std::optional<LaneId> lane);
  Async<ExecutionList> list(ListExecutions query);
  Async<std::vector<core::Execution>> read_all(const std::vector<Moment>& moments);
  Async<std::vector<store::Candidate>> take_ready(store::TakeReady query);
  Async<void> look_for_ready(std::vector<PartitionIndex> partitions);
  Request request_for(const ReadyCache::Gap& gap, std::size_t entries) const;
  Async<void> look_further(const std::vector<ReadyCache::Gap>& gaps);
  void take_in(ReadyCache::Look& look, const std::vector<IndexLook>& looks);
  Async<std::size_t> recount(PartitionIndex partition);
  Async<store::DueReply> timers_due(store::TimersDue query);
  Async<void> look_for_timers();
  Async<store::DueReply> retention_due(store::RetentionDue query);
  Async<store::ReconcileReply> reconcile(store::Reconcile query);
  Async<store::EffectPage> find_effects(store::FindEffects query);
  Async<ff::Done> probe();
  Async<void> set_clock();
  std::string time_argument() const;

  Options options_;
  OwnEventFilter own_events_;
  PartitionIndex partitions_ = 0;
  std::vector<std::uint16_t> slots_;  // of each partition
  keys::ResourcePartitions resource_partitions_;
  ServerClock server_clock_;
  ReadyCache ready_;
  TimerMirror timers_;

  std::mutex sink_mutex_;
  store::EventSink sink_;
  store::OpeningSink opening_sink_;

  std::atomic<bool> stopping_ = false;
  std::atomic<bool> missed_something_ = false;
  Runtime runtime_{1};
  Wakeup wakeup_{runtime_.executor()};
  // Only in coroutines of the runtime, which has one thread.
  bool looking_ = false;
  asio::steady_timer look_ended_{runtime_.executor(), std::chrono::steady_clock::time_point::max()};
  std::unique_ptr<Client> client_;
  std::unique_ptr<Confirmations> confirmations_;
  std::unique_ptr<Subscriber> subscriber_;
  CoroutineGroup coroutines_;
};

template <class Op, class Run>
void ValkeyStore::answer_with(store::Call<Op>& call, Run run) {
  auto shared = std::make_shared<store::Call<Op>>(std::move(call));
  coroutines_.spawn(runtime_.executor(), [shared, run]() -> asio::awaitable<void> {
    auto reply = co_await run(std::move(shared->operation));
    shared->done(std::move(reply));
  });
}

}  // namespace ff::valkey
