#include "store/valkey/valkey_store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/log.hpp"
#include "base/random.hpp"
#include "base/try.hpp"
#include "store/valkey/boot/boot.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/listing.hpp"

namespace ff::valkey_store {
namespace {

constexpr Millis subscribing_max{2'000};

std::string make_origin() {
  SystemRandom random;
  return make_uuid(TimePoint{}, random).str().substr(24);
}

std::unique_ptr<Confirmations> make_confirmations(Background& background,
                                                  const StoreOptions& options) {
  if (options.durability == Durability::server) return nullptr;
  return std::make_unique<Confirmations>(background.executor(), options.client, options.durability);
}

}  // namespace

Result<std::unique_ptr<store::Store>> open(StoreOptions options) {
  return ValkeyStore::open(std::move(options));
}

Result<std::unique_ptr<store::Store>> ValkeyStore::open(StoreOptions options) {
  std::unique_ptr<ValkeyStore> store(new ValkeyStore(std::move(options)));
  auto prepared = asio::co_spawn(store->background_.executor(), store->prepare(), asio::use_future);
  FF_TRY(prepared.get());
  return store;
}

ValkeyStore::ValkeyStore(StoreOptions options)
    : options_(std::move(options)),
      own_events_(make_origin()),
      client_(std::make_unique<Client>(background_.executor(), options_.client)),
      confirmations_(make_confirmations(background_, options_)) {}

void ValkeyStore::break_off() {
  if (!background_.stop()) return;
  stopped_.wake();
  copy_.wake();
  lanes_.look();
  if (subscriber_) subscriber_->close();
  if (confirmations_) confirmations_->close();
  client_->close();
}

ValkeyStore::~ValkeyStore() {
  break_off();
  background_.wait();
  subscriber_.reset();
  confirmations_.reset();
  client_.reset();
}

Async<void> ValkeyStore::prepare() {
  BootOptions boot_options{.partitions = options_.partitions,
                           .version_budget = options_.version_budget};
  const auto booted = co_await boot(*client_, boot_options);
  FF_CO_TRY(booted);
  if (options_.sweep)
    for (const auto& loss : booted->losses) log::info("valkey={}", loss);
  log::info("valkey partitions: executions={} budgets={} quotas={}", booted->partitions.executions,
            booted->partitions.budgets, booted->partitions.quotas);
  keys::Places places;
  options_.partitions = booted->partitions;
  for (PartitionIndex i = 0; i < booted->partitions.executions; ++i)
    places.executions.emplace_back(keys::tag(i));
  for (PartitionIndex i = 0; i < booted->partitions.budgets; ++i)
    places.budgets.emplace_back(keys::budget_tag(i));
  for (PartitionIndex i = 0; i < booted->partitions.quotas; ++i)
    places.quotas.emplace_back(keys::quota_tag(i));
  functions_.set_places(std::move(places));
  FF_CO_TRY(co_await set_clock());
  FF_CO_TRY(co_await key_rings_.install());
  co_await subscribe();
  if (const auto paused = co_await lanes_.refresh(); !paused)
    log::warn("which lanes are paused cannot be read now: {}", paused.error().message);
  FF_CO_TRY(co_await copy_.look_for_ready(functions_.all_partitions()));
  background_.spawn([this] { return copy_.keep_up(); });
  background_.spawn([this] { return follow_server(); });
  background_.spawn([this] { return lanes_.keep_up(); });
  co_return Result<void>{};
}

// Ends when every node's channels are listened to, so that nothing is missed from the start. Without the right
// to listen that never happens.
asio::awaitable<void> ValkeyStore::subscribe() {
  const auto& [executions, budgets, quotas] = functions_.places();
  std::vector<std::string> channels;
  for (const auto* places : {&executions, &budgets, &quotas})
    for (const auto& place : *places) channels.push_back(keys::events(place.tag));
  const auto of_lanes = keys::events(keys::lanes_tag);
  channels.push_back(of_lanes);
  valkey::Subscriber::Handlers handlers{
      .on_message =
          [this, of_lanes](std::string_view channel, std::string_view text) {
            if (channel == of_lanes)
              lanes_.look();
            else
              copy_.hear(text);
          },
      .on_gap =
          [this] {
            ++subscriptions_;
            subscribed_.wake();
            copy_.note_gap();
            lanes_.look();
          }};
  subscriber_ =
      std::make_unique<valkey::Subscriber>(*client_, std::move(channels), std::move(handlers));
  const auto deadline = std::chrono::steady_clock::now() + subscribing_max;
  while (subscriptions_ < client_->nodes().size() && std::chrono::steady_clock::now() < deadline)
    co_await subscribed_.wait_until(deadline);
}

// FLUSHALL removes the numbers of partitions and the key rings, too: a program that starts later must not choose
// others.
asio::awaitable<void> ValkeyStore::follow_server() {
  while (!background_.is_stopping()) {
    co_await stopped_.wait_until(std::chrono::steady_clock::now() + options_.server_interval);
    if (background_.is_stopping()) co_return;
    static_cast<void>(co_await set_clock());
    static_cast<void>(co_await ensure_library(*client_));  // a node may have been down before
    const auto fixed = co_await fix_partition_counts(*client_, options_.partitions);
    if (!fixed && fixed.error().code == Errc::invalid_input)
      log::error("valkey: {}; stop the programs that use one of the two numbers",
                 fixed.error().message);
    static_cast<void>(co_await key_rings_.install_if_missing());
  }
}

Async<void> ValkeyStore::set_clock() {
  if (clock_.is_simulated()) co_return Result<void>{};
  Result<Reply> reply = fail(Errc::store_unavailable, "no node of Valkey is known");
  for (const auto& node : client_->nodes()) {
    auto request = functions_.unless_down({.command = {"TIME"}, .route = node.name});
    reply = co_await client_->run(std::move(request));
    if (reply) break;
  }
  FF_CO_TRY(reply);
  const auto* parts = reply->as_array();
  if (!parts || parts->size() != 2) co_return malformed("TIME");
  const auto seconds = parse_number<std::int64_t>(text_in((*parts)[0]));
  const auto micros = parse_number<std::int64_t>(text_in((*parts)[1]));
  if (!seconds || !micros) co_return malformed("TIME");
  clock_.set(TimePoint{Millis{*seconds * 1000 + *micros / 1000}});
  co_return Result<void>{};
}

std::string ValkeyStore::list_cursor(TimePoint created_at, const ExecutionId& id) const {
  return to_cursor({created_at, id});
}

void ValkeyStore::start(std::vector<store::AnyCall> calls) {
  for (auto& any : calls)
    any.visit([&]<class Op>(store::Call<Op>& call) {
      if constexpr (store::OfResource<Op> || std::is_same_v<Op, ReadAudit>)
        resources_.start(any);
      else if constexpr (store::OfKeyRing<Op>)
        key_rings_.start(call);
      else if constexpr (std::is_same_v<Op, ListFlowNodes>)
        sweeps_.start(any);
      else if constexpr (Op::row.owner == Owner::execution || Op::row.owner == Owner::flow)
        executions_.start(any);
      else if constexpr (requires { copy_.start(call); })
        copy_.start(call);
      else
        sweeps_.start(any);
    });
}

}  // namespace ff::valkey_store
