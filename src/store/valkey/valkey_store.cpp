#include "store/valkey/valkey_store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include "base/log.hpp"
#include "base/random.hpp"
#include "base/try.hpp"
#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"
#include "store/durability.hpp"
#include "store/valkey/boot/boot.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/record.hpp"
#include "store/valkey/calls/send_all.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Millis sweep_interval{30'000};
constexpr Millis clock_interval{10'000};

std::string make_origin() {
  SystemRandom random;
  return make_uuid(TimePoint{}, random).str().substr(24);
}

template <class Command>
CommandTraits traits_of(const Command& command) {
  constexpr bool is_renewal = std::is_same_v<Command, Renew>;
  constexpr bool is_lease = std::is_same_v<Command, core::LeaseGrant>;
  CommandTraits traits{.refusal = context_of(command),
                       .is_lease = is_lease,
                       .publishes = !is_renewal,
                       .tells_timer = is_renewal || std::is_same_v<Command, core::TimerFire>,
                       .waits_for_disk = store::waits_for_disk<Command>};
  // That a worker does not hold it any more says nothing: it may be ready, or another's.
  if constexpr (is_lease)
    traits.tells_of_readiness = command.source != core::LeaseSource::held;
  else
    traits.tells_of_readiness = std::is_same_v<Command, core::GrantIssue>;
  return traits;
}

// A lease and its payload, which comes beside it in the same round trip: it costs Valkey less than
// through Lua.
class SentLease final : public SentCallOf<core::LeaseGrant> {
 public:
  using SentCallOf::SentCallOf;

  void finish() override {
    answered_ = true;
    finish_if_complete();
  }
  void take_payload(Result<Reply> payload) {
    payload_ = std::move(payload);
    finish_if_complete();
  }

 private:
  void finish_if_complete() {
    if (!answered_ || !payload_) return;
    const auto& payload = *payload_;
    if (succeeded() && !payload)
      fail(payload.error());
    else if (succeeded() && payload->as_error())
      fail(server_error(*payload->as_error()).error());
    else if (succeeded())
      reply_->payload = text_in(*payload);
    SentCallOf::finish();
  }

  bool answered_ = false;
  std::optional<Result<Reply>> payload_;
};

// Refusals that mean that no worker can claim the execution at present.
bool is_not_ready(Errc code) {
  return code == Errc::execution_not_leaseable || code == Errc::execution_not_eligible ||
         code == Errc::execution_not_found || code == Errc::grant_already_exists;
}

}  // namespace

// ---- Opening and closing --------------------------------------------------------------------------

Result<std::unique_ptr<store::Store>> open(StoreOptions options) {
  return ValkeyStore::open(std::move(options));
}

Result<std::unique_ptr<store::Store>> ValkeyStore::open(Options options) {
  std::unique_ptr<ValkeyStore> store(new ValkeyStore(std::move(options)));
  auto prepared = asio::co_spawn(store->runtime_.executor(), store->prepare(), asio::use_future);
  FF_TRY(prepared.get());
  return store;
}

ValkeyStore::ValkeyStore(Options options)
    : options_(std::move(options)),
      own_events_(make_origin()),
      client_(std::make_unique<Client>(runtime_.executor(), options_.client)) {
  if (options_.durability != Durability::server)
    confirmations_ =
        std::make_unique<Confirmations>(runtime_.executor(), options_.client, options_.durability);
}

void ValkeyStore::break_off() {
  if (stopping_.exchange(true)) return;
  wakeup_.wake();
  if (subscriber_) subscriber_->close();
  if (confirmations_) confirmations_->close();
  client_->close();
}

ValkeyStore::~ValkeyStore() {
  break_off();
  coroutines_.wait();
  subscriber_.reset();
  confirmations_.reset();
  client_.reset();
}

Async<void> ValkeyStore::prepare() {
  BootOptions boot_options{.partitions = options_.partitions,
                           .version_budget = options_.version_budget};
  auto booted = co_await boot(*client_, boot_options);
  FF_CO_TRY(booted);
  partitions_ = booted->partitions;
  if (options_.sweep)
    for (const auto& loss : booted->losses) log::info("valkey={}", loss);
  std::vector<std::string> channels;
  for (PartitionIndex partition = 0; partition < partitions_; ++partition) {
    slots_.push_back(slot_of(keys::tag(partition)));
    channels.push_back(keys::events(partition));
  }
  const auto add = [&channels](std::vector<keys::Partition>& places, std::string tag) {
    channels.push_back(keys::events(tag));
    const auto slot = slot_of(tag);
    places.push_back({.tag = std::move(tag), .slot = slot});
  };
  for (PartitionIndex partition = 0; partition < booted->budget_partitions; ++partition)
    add(resource_partitions_.budgets, keys::budget_tag(partition));
  for (PartitionIndex partition = 0; partition < booted->quota_partitions; ++partition)
    add(resource_partitions_.quotas, keys::quota_tag(partition));
  FF_CO_TRY(co_await set_clock());
  Subscriber::Handlers handlers{.on_message =
                                    [this](std::string_view, std::string_view text) {
                                      auto message = parse_event(text);
                                      if (!message) return tell_opening(text);
                                      message = own_events_.hear(std::move(*message));
                                      if (message) learn(std::move(*message));
                                    },
                                .on_gap =
                                    [this] {
                                      ready_.forget_versions();
                                      timers_.forget_versions();
                                      missed_something_ = true;
                                      wakeup_.wake();
                                    }};
  subscriber_ = std::make_unique<Subscriber>(*client_, std::move(channels), std::move(handlers));
  auto looked = co_await look_for_ready(all_partitions());
  FF_CO_TRY(looked);
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
    const auto looked = co_await look_for_ready(all_partitions());
    if (!looked) missed_something_ = true;
  }
}

Async<void> ValkeyStore::set_clock() {
  if (options_.simulated_clock) co_return Result<void>{};
  Request request{.command = {"TIME"}, .route = slots_.front()};
  const auto reply = co_await client_->run(std::move(request));
  FF_CO_TRY(reply);
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

void ValkeyStore::set_opening_sink(store::OpeningSink sink) {
  const std::lock_guard lock(sink_mutex_);
  opening_sink_ = std::move(sink);
}

void ValkeyStore::tell_opening(std::string_view message) {
  const auto opening = parse_opening(message);
  const std::lock_guard lock(sink_mutex_);
  if (opening && opening_sink_) opening_sink_(*opening);
}

std::vector<PartitionIndex> ValkeyStore::all_partitions() const {
  std::vector<PartitionIndex> all(partitions_);
  for (PartitionIndex i = 0; i < partitions_; ++i) all[i] = i;
  return all;
}

// ---- Calling functions ----------------------------------------------------------------------------

std::vector<std::string> ValkeyStore::with_keys(std::vector<std::string> command,
                                                std::string_view tag, std::string key) const {
  const bool cluster = options_.client.cluster;
  command.emplace_back(cluster ? "2" : "1");
  command.push_back(std::move(key));
  if (cluster) command.push_back(keys::never(tag));
  return command;
}

Request ValkeyStore::request_for(const ExecutionId& id, FunctionCall function,
                                 std::uint64_t call) const {
  std::vector<std::string> command;
  command.reserve(7 + function.arguments.size());
  command.emplace_back("FCALL");
  command.emplace_back(function.function);
  command = with_keys(std::move(command), keys::tag(id.partition()), keys::core(id));
  command.push_back(time_argument());
  command.push_back(own_events_.origin_of(call));
  std::ranges::move(function.arguments, std::back_inserter(command));
  return {.command = std::move(command), .route = slots_[id.partition()]};
}

Request ValkeyStore::read_request(const ExecutionId& id, std::vector<std::string> arguments) const {
  auto command = with_keys({"FCALL_RO", "ff_get"}, keys::tag(id.partition()), keys::core(id));
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

asio::awaitable<std::vector<Result<Reply>>> ValkeyStore::call_all(std::vector<Request> requests) {
  return send_all(std::move(requests), [this](Request request, Done done) {
    call_function(std::move(request), std::move(done));
  });
}

void ValkeyStore::start(std::vector<store::AnyCall> calls) {
  for (auto& any : calls)
    any.visit([this, &any]<class Op>(store::Call<Op>& call) {
      if constexpr (store::OfResource<Op>)
        route_resource(any);
      else
        route(call);
    });
}

template <class Command>
void ValkeyStore::route(store::Call<Command>& call) {
  auto sent = begin(call);
  send(std::move(sent), std::make_shared<SentCallOf<Command>>(std::move(call)));
}

// A payload that is sent ahead goes by itself if the call behind it does not keep it.
void ValkeyStore::route(store::Call<core::Create>& call) {
  const auto id = call.operation.id;
  const bool ahead = sends_payload_ahead(call.operation);
  auto sent = begin(call);
  if (ahead) {
    // Should it be sent again, and arrive after the call that keeps it, it must not expire: NX.
    Request set{.command = {"SET", keys::of_execution(id, "payload"),
                            std::move(call.operation.submit.payload), "EX", "600", "NX"},
                .route = slots_[id.partition()]};
    client_->send(std::move(set), [](const Result<Reply>&) {});
  }
  send(std::move(sent), std::make_shared<SentCallOf<core::Create>>(std::move(call)));
}

void ValkeyStore::route(store::Call<core::LeaseGrant>& call) {
  const auto id = call.operation.id;
  auto sent = begin(call);
  auto lease = std::make_shared<SentLease>(std::move(call));
  send(std::move(sent), lease);
  Request get{.command = {"GET", keys::of_execution(id, "payload")},
              .route = slots_[id.partition()]};
  client_->send(std::move(get),
                [lease](Result<Reply> payload) { lease->take_payload(std::move(payload)); });
}

template <class Command>
ValkeyStore::Sent ValkeyStore::begin(store::Call<Command>& call) {
  const auto number = own_events_.begin();
  auto traits = traits_of(call.operation);
  if (traits.tells_of_readiness) traits.known_version = ready_.version_of(call.operation.id);
  auto request = request_for(call.operation.id, call_for(call.operation), number);
  return {.number = number, .traits = std::move(traits), .request = std::move(request)};
}

void ValkeyStore::send(Sent sent, std::shared_ptr<SentCall> call) {
  auto request = std::move(sent.request);
  call_function(std::move(request), [this, number = sent.number, traits = std::move(sent.traits),
                                     call = std::move(call)](Result<Reply> reply) {
    auto list = list_of(std::move(reply));
    const auto run = take_run(list);
    take_in(number, traits, std::move(list), *call);
    if (!confirmations_ || !call->succeeded() || !traits.waits_for_disk) return call->finish();
    const auto partition = traits.refusal.id.partition();
    confirmations_->add({slots_[partition], keys::probe(keys::tag(partition)), run},
                        [call](Result<void> confirmed) {
                          if (!confirmed) call->fail(std::move(confirmed.error()));
                          call->finish();
                        });
  });
}

// Applies the answer to the call and to the caches of this process.
void ValkeyStore::take_in(std::uint64_t number, const CommandTraits& traits,
                          Result<std::vector<Reply>> list, SentCall& call) {
  const auto& id = traits.refusal.id;
  const bool answered = list && !is_refusal(*list);
  auto event = answered && list->size() > 2 ? text_in((*list)[2]) : std::string{};
  if (!list && traits.is_lease) ready_.put_back(id);
  if (auto echo = own_events_.end(number, !event.empty() || !traits.publishes))
    learn(std::move(*echo));
  if (!list) return call.fail(std::move(list.error()));
  if (!answered) {
    auto refusal = refused(traits.refusal, *list);
    if (traits.tells_of_readiness) {
      if (is_not_ready(refusal.error().code))
        ready_.erase(id, traits.known_version);
      else
        ready_.put_back(id);
    }
    if (refusal.error().code == Errc::execution_not_found) timers_.put(id, std::nullopt);
    return call.fail(std::move(refusal.error()));
  }
  const bool duplicate = *(*list)[1].as_text() == "DUPLICATE";
  Answer answer(duplicate, std::move(event), without(std::move(*list), 3));
  call.read(answer);
  if (traits.tells_timer && !answer.at_end()) {
    const auto kind = timer_kind_from(answer.text());
    const auto due = answer.optional_time();
    timers_.put(id, kind && due ? std::optional(core::Timer{*kind, *due}) : std::nullopt);
  }
  if (answer.malformed()) return call.fail(malformed("a command").error());
  if (!answer.event().empty())
    if (auto message = parse_event(answer.event())) learn(std::move(*message));
}

void ValkeyStore::learn(EventMessage message) {
  const auto& change = message.change;
  const auto& id = message.indexed.ready.id;
  if (change.claimable)
    ready_.put(message.indexed, message.version);
  else
    ready_.erase(id, message.version);
  timers_.put(id, change.timer, message.version);
  const std::lock_guard lock(sink_mutex_);
  if (sink_) sink_({&change, 1});
}

}  // namespace ff::valkey
