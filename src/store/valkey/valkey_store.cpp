#include "store/valkey/valkey_store.hpp"

#include <spdlog/spdlog.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "base/random.hpp"
#include "core/refusals.hpp"
#include "core/transitions.hpp"
#include "store/durability.hpp"
#include "store/valkey/answers.hpp"
#include "store/valkey/boot.hpp"
#include "store/valkey/fields.hpp"
#include "store/valkey/keys.hpp"
#include "store/valkey/record.hpp"

namespace ff::valkey {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Millis sweep_interval{30'000};
constexpr Millis clock_interval{10'000};

std::string make_origin() {
  SystemRandom random;
  return make_uuid(TimePoint{}, random).str().substr(24);
}

// The last part of what a command answers: which run of the server did it.
std::string take_run(Result<std::vector<Reply>>& list) {
  if (!list) return {};
  auto run = text_in(list->back());
  list->pop_back();
  return run;
}

// Whether its refusal means something for others who might want the execution. Not that a worker does not
// hold it any more: it may be ready, or another's.
template <class Command>
bool tells_of_readiness(const Command& command) {
  if constexpr (std::is_same_v<Command, core::LeaseGrant>)
    return command.source != core::LeaseSource::held;
  return std::is_same_v<Command, core::GrantIssue>;
}

// Whoever asked for it hears that nobody can have it now.
bool is_not_ready(Errc code) {
  return code == Errc::execution_not_leaseable || code == Errc::execution_not_eligible ||
         code == Errc::execution_not_found || code == Errc::grant_already_exists;
}

}  // namespace

// ---- Opening and closing --------------------------------------------------------------------------

Result<std::unique_ptr<ValkeyStore>> ValkeyStore::open(Options options) {
  std::unique_ptr<ValkeyStore> store(new ValkeyStore(std::move(options)));
  auto prepared = asio::co_spawn(store->runtime_.executor(), store->prepare(), asio::use_future);
  if (auto result = prepared.get(); !result) return std::unexpected(result.error());
  return store;
}

ValkeyStore::ValkeyStore(Options options)
    : options_(std::move(options)),
      echoes_(make_origin()),
      client_(std::make_unique<Client>(runtime_.executor(), options_.client)) {
  if (options_.durability != Durability::server)
    confirmations_ =
        std::make_unique<Confirmations>(runtime_.executor(), options_.client, options_.durability);
}

ValkeyStore::~ValkeyStore() {
  stopping_ = true;
  wakeup_.wake();
  if (subscriber_) subscriber_->close();
  client_->close();
  coroutines_.wait();
  subscriber_.reset();
  confirmations_.reset();
  client_.reset();
}

Async<void> ValkeyStore::prepare() {
  BootOptions boot_options{.partitions = options_.partitions,
                           .version_budget = options_.version_budget};
  auto booted = co_await boot(*client_, boot_options);
  if (!booted) co_return std::unexpected(booted.error());
  partitions_ = booted->partitions;
  losses_ = std::move(booted->losses);
  std::vector<std::string> channels;
  for (PartitionIndex partition = 0; partition < partitions_; ++partition) {
    slots_.push_back(slot_of(keys::tag(partition)));
    channels.push_back(keys::events(partition));
  }
  if (auto set = co_await set_clock(); !set) co_return std::unexpected(set.error());
  Subscriber::Handlers handlers{.on_message =
                                    [this](std::string_view, std::string_view text) {
                                      auto message = parse_event(text);
                                      if (message) message = echoes_.hear(std::move(*message));
                                      if (message) learn(std::move(*message));
                                    },
                                .on_gap =
                                    [this] {
                                      missed_something_ = true;
                                      wakeup_.wake();
                                    }};
  subscriber_ = std::make_unique<Subscriber>(*client_, std::move(channels), std::move(handlers));
  auto looked = co_await look_for_ready(all_partitions(), ReadyCache::ask_for_min);
  if (!looked) co_return std::unexpected(looked.error());
  coroutines_.spawn(runtime_.executor(), [this] { return keep_up(); });
  co_return Result<void>{};
}

// Follows the server's clock, and looks for what this process was not told.
asio::awaitable<void> ValkeyStore::keep_up() {
  auto next_sweep = SteadyClock::now() + sweep_interval;
  while (!stopping_) {
    co_await wakeup_.wait_until(SteadyClock::now() + clock_interval);
    if (stopping_) co_return;
    static_cast<void>(co_await set_clock());
    const bool sweep = options_.sweep && SteadyClock::now() >= next_sweep;
    if (!missed_something_.exchange(false) && !sweep) continue;
    next_sweep = SteadyClock::now() + sweep_interval;
    timers_.looked_up(TimePoint{});
    const auto looked = co_await look_for_ready(all_partitions(), ReadyCache::ask_for_min);
    if (!looked) missed_something_ = true;
  }
}

Async<void> ValkeyStore::set_clock() {
  if (options_.simulated_clock) co_return Result<void>{};
  Request request{.command = {"TIME"}, .route = slots_.front()};
  const auto reply = co_await client_->run(std::move(request));
  if (!reply) co_return std::unexpected(reply.error());
  const auto* parts = reply->as_array();
  if (!parts || parts->size() != 2) co_return malformed("TIME");
  const auto seconds = parse_number<std::int64_t>(text_in((*parts)[0]));
  const auto micros = parse_number<std::int64_t>(text_in((*parts)[1]));
  if (!seconds || !micros) co_return malformed("TIME");
  server_clock_.set(TimePoint{Millis{*seconds * 1000 + *micros / 1000}});
  co_return Result<void>{};
}

TimePoint ValkeyStore::now() const {
  return options_.simulated_clock ? options_.simulated_clock->now() : server_clock_.now();
}

std::string ValkeyStore::time_argument() const {
  if (!options_.simulated_clock) return {};
  return std::to_string(options_.simulated_clock->now().time_since_epoch().count());
}

void ValkeyStore::set_event_sink(store::EventSink sink) {
  const std::lock_guard lock(sink_mutex_);
  sink_ = std::move(sink);
}

std::vector<PartitionIndex> ValkeyStore::all_partitions() const {
  std::vector<PartitionIndex> all(partitions_);
  for (PartitionIndex i = 0; i < partitions_; ++i) all[i] = i;
  return all;
}

// ---- Calling functions ----------------------------------------------------------------------------

std::vector<std::string> ValkeyStore::with_keys(std::vector<std::string> command,
                                                PartitionIndex partition, std::string key) const {
  const bool cluster = options_.client.cluster;
  command.emplace_back(cluster ? "2" : "1");
  command.push_back(std::move(key));
  if (cluster) command.push_back(keys::never(partition));
  return command;
}

Request ValkeyStore::request_for(const ExecutionId& id, FunctionCall function,
                                 std::uint64_t call) const {
  std::vector<std::string> command;
  command.reserve(7 + function.arguments.size());
  command.emplace_back("FCALL");
  command.emplace_back(function.function);
  command = with_keys(std::move(command), id.partition(), keys::core(id));
  command.push_back(time_argument());
  command.push_back(echoes_.origin_of(call));
  std::ranges::move(function.arguments, std::back_inserter(command));
  return {.command = std::move(command), .route = slots_[id.partition()]};
}

Request ValkeyStore::read_request(const ExecutionId& id, std::vector<std::string> arguments) const {
  auto command = with_keys({"FCALL_RO", "ff_get"}, id.partition(), keys::core(id));
  std::ranges::move(arguments, std::back_inserter(command));
  return {.command = std::move(command), .route = slots_[id.partition()]};
}

void ValkeyStore::call_function(Request request, Done done) {
  auto again = std::make_shared<Request>(request);
  client_->send(std::move(request), [this, again,
                                     done = std::move(done)](Result<Reply> reply) mutable {
    const auto* error = reply ? reply->as_error() : nullptr;
    // A killed function has written nothing: one that has cannot be killed.
    const bool lost =
        error && (mentions(*error, "Function not found") || mentions(*error, "killed by user"));
    if (!lost || stopping_) return done(std::move(reply));
    coroutines_.spawn(
        runtime_.executor(),
        [this, again, done = std::make_shared<Done>(std::move(done))]() -> asio::awaitable<void> {
          auto loaded = co_await ensure_library(*client_);
          if (loaded)
            client_->send(std::move(*again), std::move(*done));
          else
            (*done)(std::unexpected(std::move(loaded.error())));
        });
  });
}

void ValkeyStore::start(std::vector<store::AnyCall> calls) {
  for (auto& any : calls) std::visit([this](auto& call) { route(call); }, any);
}

template <class Command>
void ValkeyStore::route(store::Call<Command>& call) {
  const auto number = echoes_.begin();
  auto request = request_for(call.operation.id, call_for(call.operation), number);
  send(std::move(call), number, std::move(request));
}

// A payload that is sent ahead goes by itself if the call behind it does not keep it.
void ValkeyStore::route(store::Call<core::Create>& call) {
  const auto id = call.operation.id;
  const bool ahead = sends_payload_ahead(call.operation);
  const auto number = echoes_.begin();
  auto request = request_for(id, call_for(call.operation), number);
  if (ahead) {
    // Should it be sent again, and arrive after the call that keeps it, it must not expire: NX.
    Request set{.command = {"SET", keys::of_execution(id, "payload"),
                            std::move(call.operation.submit.payload), "EX", "600", "NX"},
                .route = slots_[id.partition()]};
    client_->send(std::move(set), [](const Result<Reply>&) {});
  }
  send(std::move(call), number, std::move(request));
}

template <class Command>
void ValkeyStore::send(store::Call<Command> call, std::uint64_t number, Request request) {
  call_function(
      std::move(request), [this, number, call = std::move(call)](Result<Reply> reply) mutable {
        auto list = list_of(std::move(reply));
        const auto run = take_run(list);
        auto result = take_in(call.operation, number, std::move(list));
        const bool waits = confirmations_ && result && store::waits_for_disk<Command>;
        if (!waits) return call.done(std::move(result));
        const auto partition = call.operation.id.partition();
        confirmations_->add(
            {slots_[partition], fmt::format("ff:probe:{}", keys::tag(partition)), run},
            [call = std::move(call), result = std::move(result)](Result<void> confirmed) mutable {
              if (!confirmed) result = std::unexpected(confirmed.error());
              call.done(std::move(result));
            });
      });
}

// The payload comes beside the lease, in the same round trip: it costs Valkey less than through Lua.
void ValkeyStore::route(store::Call<core::LeaseGrant>& call) {
  const auto id = call.operation.id;
  struct Both {
    store::Call<core::LeaseGrant> call;
    std::optional<Result<ClaimedExecution>> claimed;
    std::optional<Result<Reply>> payload;
    void finish() {
      if (!claimed || !payload) return;
      if (*claimed && !*payload) return call.done(std::unexpected((*payload).error()));
      if (*claimed && (*payload)->as_error())
        return call.done(server_error(*(*payload)->as_error()));
      if (*claimed) (*claimed)->payload = text_in(**payload);
      call.done(std::move(*claimed));
    }
  };
  const auto number = echoes_.begin();
  auto request = request_for(id, call_for(call.operation), number);
  Request get{.command = {"GET", keys::of_execution(id, "payload")},
              .route = slots_[id.partition()]};
  auto both = std::make_shared<Both>(Both{.call = std::move(call), .claimed = {}, .payload = {}});
  call_function(std::move(request), [this, both, number](Result<Reply> reply) {
    auto list = list_of(std::move(reply));
    take_run(list);
    both->claimed = take_in(both->call.operation, number, std::move(list));
    both->finish();
  });
  client_->send(std::move(get), [both](Result<Reply> reply) {
    both->payload = std::move(reply);
    both->finish();
  });
}

// What it means, and what this process learns from it.
template <class Command>
Result<typename Command::Reply> ValkeyStore::take_in(const Command& command, std::uint64_t call,
                                                     Result<std::vector<Reply>> list) {
  const auto& id = command.id;
  const bool answered = list && !is_refusal(*list);
  auto event = answered && list->size() > 2 ? text_in((*list)[2]) : std::string{};
  // Nothing is ever told of a renewal.
  const bool told = !event.empty() || std::is_same_v<Command, Renew>;
  if (!list && std::is_same_v<Command, core::LeaseGrant>) ready_.put_back(id);
  if (auto echo = echoes_.end(call, told)) learn(std::move(*echo));
  if (!list) return std::unexpected(std::move(list.error()));
  if (!answered) {
    auto refusal = refused(context_of(command), *list);
    if (tells_of_readiness(command)) {
      if (is_not_ready(refusal.error().code))
        ready_.erase(id);
      else
        ready_.put_back(id);
    }
    if (refusal.error().code == Errc::execution_not_found) timers_.put(id, std::nullopt);
    return refusal;
  }
  const bool duplicate = *(*list)[1].as_text() == "DUPLICATE";
  Answer answer(duplicate, std::move(event), without(std::move(*list), 3));
  auto result = read_answer(command, answer);
  if constexpr (std::is_same_v<Command, Renew> || std::is_same_v<Command, core::TimerFire>) {
    if (!answer.at_end()) {
      const auto kind = timer_kind_from(answer.text());
      const auto due = answer.optional_time();
      timers_.put(id, kind && due ? std::optional(core::Timer{*kind, *due}) : std::nullopt);
    }
  }
  if (answer.malformed()) return malformed("a command");
  if (!answer.event().empty())
    if (auto message = parse_event(answer.event())) learn(std::move(*message));
  return result;
}

void ValkeyStore::learn(EventMessage message) {
  const auto& happening = message.happening;
  if (happening.claimable)
    ready_.put(message.ready);
  else
    ready_.erase(message.ready.id);
  timers_.put(message.ready.id, happening.timer);
  const std::lock_guard lock(sink_mutex_);
  if (sink_) sink_({&happening, 1});
}

// ---- Reading --------------------------------------------------------------------------------------

namespace {

Result<std::vector<Reply>> found_parts(const ExecutionId& id, Result<Reply> reply) {
  auto list = list_of(std::move(reply));
  if (!list) return list;
  if (is_refusal(*list)) return core::refusals::not_found(id);
  return without(std::move(*list), 2);
}

// The last part: bytes that may not be there.
std::optional<std::string> take_bytes(std::vector<Reply>& parts) {
  auto* text = parts.back().as_text();
  auto bytes = text ? std::optional(std::move(*text)) : std::nullopt;
  parts.pop_back();
  return bytes;
}

}  // namespace

void ValkeyStore::route(store::Call<GetExecution>& call) {
  const auto id = call.operation.id;
  call_function(read_request(id, {"newest"}),
                [id, call = std::move(call)](Result<Reply> reply) mutable {
                  auto parts = found_parts(id, std::move(reply));
                  if (!parts) return call.done(std::unexpected(parts.error()));
                  const auto record = read_record(id, std::move(*parts));
                  if (!record) return call.done(std::unexpected(record.error()));
                  call.done(core::info_of(record->execution));
                });
}

void ValkeyStore::route(store::Call<GetPayload>& call) {
  const auto id = call.operation.id;
  call_function(read_request(id, {"none", "payload"}),
                [id, call = std::move(call)](Result<Reply> reply) mutable {
                  auto parts = found_parts(id, std::move(reply));
                  if (!parts) return call.done(std::unexpected(parts.error()));
                  auto payload = take_bytes(*parts);
                  auto record = read_record(id, std::move(*parts));
                  if (!record) return call.done(std::unexpected(record.error()));
                  call.done(Bytes{.bytes = std::move(payload).value_or(""),
                                  .content_type = std::move(record->execution.content_type)});
                });
}

void ValkeyStore::route(store::Call<store::ReadResult>& call) {
  const auto id = call.operation.id;
  call_function(read_request(id, {"newest", "result"}),
                [id, call = std::move(call)](Result<Reply> reply) mutable {
                  auto parts = found_parts(id, std::move(reply));
                  if (!parts) return call.done(std::unexpected(parts.error()));
                  auto result = take_bytes(*parts);
                  const auto record = read_record(id, std::move(*parts));
                  if (!record) return call.done(std::unexpected(record.error()));
                  call.done(core::read_result(record->execution, std::move(result)));
                });
}

void ValkeyStore::route(store::Call<GetAttempts>& call) {
  const auto id = call.operation.id;
  call_function(
      read_request(id, {"all"}), [id, call = std::move(call)](Result<Reply> reply) mutable {
        auto parts = found_parts(id, std::move(reply));
        if (!parts) return call.done(std::unexpected(parts.error()));
        const auto record = read_record(id, std::move(*parts));
        if (!record) return call.done(std::unexpected(record.error()));
        const bool running = std::holds_alternative<core::Active>(record->execution.state);
        Attempts attempts;
        for (const auto& attempt : record->attempts)
          attempts.attempts.push_back(
              core::info_of(attempt, running && &attempt == &record->attempts.back()));
        call.done(std::move(attempts));
      });
}

void ValkeyStore::route(store::Call<GetLeaseHistory>& call) {
  const auto id = call.operation.id;
  call_function(read_request(id, {"all"}),
                [id, call = std::move(call)](Result<Reply> reply) mutable {
                  auto parts = found_parts(id, std::move(reply));
                  if (!parts) return call.done(std::unexpected(parts.error()));
                  const auto record = read_record(id, std::move(*parts));
                  if (!record) return call.done(std::unexpected(record.error()));
                  call.done(core::lease_history(record->execution, record->attempts));
                });
}

// ---- Asking many partitions -------------------------------------------------------------------------

template <class Op, class Run>
void ValkeyStore::answer_with(store::Call<Op>& call, Run run) {
  auto shared = std::make_shared<store::Call<Op>>(std::move(call));
  coroutines_.spawn(runtime_.executor(), [shared, run]() -> asio::awaitable<void> {
    auto reply = co_await run(std::move(shared->operation));
    shared->done(std::move(reply));
  });
}

Async<std::vector<std::vector<Reply>>> ValkeyStore::ask(Question question,
                                                        std::vector<PartitionIndex> partitions) {
  constexpr int tries_max = 5;
  constexpr Millis pause_step{50};
  for (int tried = 1;; ++tried) {
    std::vector<std::vector<Reply>> answers;
    std::optional<Error> failure;
    for (const auto& node : client_->nodes()) {
      std::vector<std::string> command{"FCALL_RO", question.function, "0"};
      std::ranges::copy(question.arguments, std::back_inserter(command));
      const auto before = command.size();
      for (const auto partition : partitions)
        if (std::ranges::any_of(node.slots, [&](const SlotRange& range) {
              return range.first <= slots_[partition] && slots_[partition] <= range.last;
            }))
          command.push_back(keys::tag(partition));
      if (command.size() == before) continue;
      auto answer = co_await ask_node(node.name, std::move(command), question.moving);
      if (!answer) {
        failure = std::move(answer.error());
        break;
      }
      answers.push_back(std::move(*answer));
    }
    if (!failure) co_return answers;
    if (tried == tries_max || stopping_) co_return std::unexpected(std::move(*failure));
    // A slot may have moved to another node; whoever serves it knows.
    Request refresh{.command = {"EXISTS", keys::events(partitions.front())},
                    .route = slots_[partitions.front()]};
    static_cast<void>(co_await client_->run(std::move(refresh)));
    asio::steady_timer pause(runtime_.executor(), tried * pause_step);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

Async<std::vector<Reply>> ValkeyStore::ask_node(NodeName node, std::vector<std::string> command,
                                                Moving moving) {
  Request request{.command = std::move(command), .route = std::move(node)};
  auto reply = co_await client_->run(std::move(request));
  const auto* error = reply ? reply->as_error() : nullptr;
  if (error && mentions(*error, "Function not found"))
    if (auto loaded = co_await ensure_library(*client_); !loaded)
      co_return std::unexpected(loaded.error());
  auto list = list_of(std::move(reply));
  if (!list) co_return std::unexpected(std::move(list.error()));
  const auto* passed_over = list->size() > 2 ? (*list)[2].as_array() : nullptr;
  if (!passed_over) co_return malformed("a sweep");
  if (!passed_over->empty()) {
    if (moving == Moving::wait)
      co_return fail(Errc::store_unavailable,
                     fmt::format("partition {} is just moving to another node of the cluster",
                                 text_in(passed_over->front())));
    missed_something_ = true;
  }
  co_return without(std::move(*list), 3);
}

void ValkeyStore::route(store::Call<CountExecutions>& call) {
  answer_with(call, [this](CountExecutions query) { return count(query.ns, query.lane); });
}

void ValkeyStore::route(store::Call<store::CountAll>& call) {
  answer_with(call, [this](store::CountAll) { return count(std::nullopt, std::nullopt); });
}

Async<StateCounts> ValkeyStore::count(std::optional<Namespace> ns, std::optional<LaneId> lane) {
  Question question{.function = "ff_count", .arguments = {}};
  auto answers = co_await ask(std::move(question), all_partitions());
  if (!answers) co_return std::unexpected(answers.error());
  std::map<std::pair<LaneId, ExecutionState>, std::uint64_t> sums;
  for (const auto& answer : *answers)
    for (std::size_t i = 0; i + 2 < answer.size(); i += 3) {
      const auto queue = parse_queue(text_in(answer[i]));
      const auto state = from_name<ExecutionState>(text_in(answer[i + 1]));
      const auto number = parse_number<std::uint64_t>(text_in(answer[i + 2]));
      if (!queue || !state || !number) continue;
      if ((ns && queue->first != *ns) || (lane && queue->second != *lane)) continue;
      sums[{queue->second, *state}] += *number;
    }
  StateCounts counts;
  for (const auto& [key, number] : sums)
    counts.counts.push_back({.lane = key.first, .state = key.second, .count = number});
  co_return counts;
}

void ValkeyStore::route(store::Call<store::RetentionDue>& call) {
  answer_with(call, [this](store::RetentionDue query) { return retention_due(query); });
}

Async<store::DueReply> ValkeyStore::retention_due(store::RetentionDue query) {
  const auto time = std::to_string(now().time_since_epoch().count());
  Question question{.function = "ff_sweep_retention",
                    .arguments = {time, std::to_string(query.max)},
                    .moving = Moving::skip};
  auto answers = co_await ask(std::move(question), all_partitions());
  if (!answers) co_return std::unexpected(answers.error());
  store::DueReply reply;
  for (const auto& answer : *answers) {
    if (answer.empty()) continue;
    if (const auto due = parse_number<std::int64_t>(text_in(answer.front())))
      if (const TimePoint next{Millis{*due}}; !reply.next || next < *reply.next) reply.next = next;
    for (std::size_t i = 1; i < answer.size() && reply.due.size() < query.max; ++i)
      if (const auto id = ExecutionId::parse(text_in(answer[i]))) reply.due.push_back(*id);
  }
  co_return reply;
}

void ValkeyStore::route(store::Call<store::Reconcile>& call) {
  answer_with(call, [this](store::Reconcile query) { return reconcile(query); });
}

Async<store::ReconcileReply> ValkeyStore::reconcile(store::Reconcile query) {
  const auto partition_key = keys::events(query.partition);
  const auto slot = slots_[query.partition];
  Request ask_namespaces{
      .command = with_keys({"FCALL_RO", "ff_namespaces"}, query.partition, partition_key),
      .route = slot};
  auto namespaces = list_of(co_await client_->run(std::move(ask_namespaces)));
  if (!namespaces) co_return std::unexpected(namespaces.error());
  store::ReconcileReply sum;
  for (const auto& ns : without(std::move(*namespaces), 2)) {
    std::string from = "0";
    while (!from.empty()) {
      auto command = with_keys({"FCALL", "ff_mend"}, query.partition, partition_key);
      for (auto& argument : {time_argument(), text_in(ns), from, std::string("100")})
        command.push_back(argument);
      Request mend{.command = std::move(command), .route = slot};
      auto list = list_of(co_await client_->run(std::move(mend)));
      if (!list) co_return std::unexpected(list.error());
      if (list->size() != 5) co_return malformed("ff_mend");
      from = text_in((*list)[2]);
      sum.checked += parse_number<std::size_t>(text_in((*list)[3])).value_or(0);
      sum.repaired += parse_number<std::size_t>(text_in((*list)[4])).value_or(0);
    }
  }
  if (sum.repaired > 0)
    spdlog::error("partition={} index entries mended={}", query.partition, sum.repaired);
  co_return sum;
}

void ValkeyStore::route(store::Call<store::Probe>& call) {
  answer_with(call, [this](store::Probe) { return probe(); });
}

// Every node takes writes and has the function library.
Async<ff::Done> ValkeyStore::probe() {
  for (const auto& node : client_->nodes()) {
    const auto partition = std::ranges::find_if(slots_, [&](std::uint16_t slot) {
      return std::ranges::any_of(node.slots, [&](const SlotRange& range) {
        return range.first <= slot && slot <= range.last;
      });
    });
    if (partition == slots_.end()) continue;
    const auto index = static_cast<PartitionIndex>(partition - slots_.begin());
    Request request{.command = {"SET", fmt::format("ff:probe:{}", keys::tag(index)), "1"},
                    .route = *partition};
    const auto reply = co_await client_->run(std::move(request));
    if (!reply) co_return std::unexpected(reply.error());
    if (const auto* error = reply->as_error()) co_return server_error(*error);
  }
  co_return ff::Done{};
}

void ValkeyStore::route(store::Call<Backup>& call) {
  call.done(fail(Errc::invalid_input,
                 "a store on Valkey is backed up with Valkey's own means (BGSAVE, or a copy of its "
                 "append-only file); see docs/valkey.md"));
}

// ---- Work -------------------------------------------------------------------------------------------

void ValkeyStore::route(store::Call<store::TakeReady>& call) {
  if (ready_.dry(call.operation).empty()) return call.done(ready_.take(call.operation));
  answer_with(call, [this](store::TakeReady query) { return take_ready(std::move(query)); });
}

Async<std::vector<ExecutionId>> ValkeyStore::take_ready(store::TakeReady query) {
  std::vector<PartitionIndex> partitions;
  std::size_t ask_for = ReadyCache::ask_for_min;
  for (const auto& dry : ready_.dry(query)) {
    partitions.push_back(dry.partition);
    ask_for = std::max(ask_for, dry.ask_for);
  }
  if (!partitions.empty())
    if (auto looked = co_await look_for_ready(std::move(partitions), ask_for); !looked)
      co_return std::unexpected(looked.error());
  co_return ready_.take(query);
}

void ValkeyStore::route(store::Call<store::PutBack>& call) {
  ready_.put_back(call.operation.id);
  call.done(ff::Done{});
}

void ValkeyStore::route(store::Call<store::TimersDue>& call) {
  answer_with(call, [this](store::TimersDue query) { return timers_due(query); });
}

void ValkeyStore::route(store::Call<ListExecutions>& call) {
  answer_with(call, [this](ListExecutions query) { return list(std::move(query)); });
}

}  // namespace ff::valkey
