#include "tests/differential/sides.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "base/text/base64.hpp"
#include "store/embedded/embedded.hpp"
#include "store/valkey/keys.hpp"
#include "store/valkey/open.hpp"

namespace ff::differential {

using namespace std::chrono_literals;

void disagree(const std::string& text) { throw std::runtime_error(text); }

std::string text_of(const Result<Bytes>& result) {
  if (!result) return boost::json::serialize(http::to_problem(result.error()));
  return fmt::format("{}{} {}", result->absent ? "absent " : "",
                     result->content_type ? result->content_type->str() : "",
                     base64_encode(result->bytes));
}

void SeededRandom::fill(std::span<std::uint8_t> bytes) {
  const std::lock_guard lock(mutex_);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(source_());
}

void SeededRandom::seed(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  source_.seed(seed);
}

void Heard::add(const Event& event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
}

std::size_t Heard::size() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

std::vector<std::string> Heard::take() {
  const std::lock_guard lock(mutex_);
  std::ranges::stable_sort(events_, {}, &Event::id);
  std::vector<std::string> texts;
  for (const auto& event : events_) texts.push_back(boost::json::serialize(http::to_fields(event)));
  events_.clear();
  return texts;
}

Sides::Sides(test::ValkeyServer& server)
    : server_(server), client_(runtime_.executor(), server.client_options()) {
  server_.flushall();
  open_embedded();
  open_valkey();
}

LocalEngineOptions Sides::options(const Side& side) const {
  return {.threads = 1,
          .scan = false,
          .on_event = [heard = side.heard](const Event& event) { heard->add(event); },
          .random = side.random};
}

namespace {

// Both sign the same tokens.
WaitpointSecret secret() { return WaitpointSecret::of_bytes(std::string(32, 's')); }

}  // namespace

void Sides::open_embedded() {
  auto store = must(embedded::open({.directory = temp_.path(),
                                    .clock = clock_,
                                    .shards = 1,
                                    .durability = store::Durability::relaxed,
                                    .waitpoint_secret = secret(),
                                    .env = env_.get()}));
  embedded_.store = store.get();
  embedded_.engine = std::make_unique<LocalEngine>(std::move(store), options(embedded_));
}

void Sides::open_valkey() {
  auto store = must(valkey_store::open({.client = server_.client_options(),
                                        .sweep = false,
                                        .waitpoint_secret = secret(),
                                        .simulated_clock = clock_}));
  valkey_.store = store.get();
  valkey_.engine = std::make_unique<LocalEngine>(std::move(store), options(valkey_));
}

void Sides::restart() {
  embedded_.engine.reset();
  valkey_.engine.reset();
  open_embedded();
  // The embedded store's workers are known only while it is open.
  const auto workers = server_.call({"KEYS", "ff:workers:*"});
  for (const auto& key : *workers.as_array()) server_.call({"DEL", *key.as_text()});
  open_valkey();
}

void Sides::run_scanners() {
  // The second run meets what came due by what the first one did.
  for (int i = 0; i < 2; ++i)
    for (auto* side : {&embedded_, &valkey_})
      must(test::run_blocking(side->engine->executor(), side->engine->scanners().run_once()));
}

void Sides::begin_step() {
  ++steps_;
  embedded_.random->seed(steps_);
  valkey_.random->seed(steps_);
}

void Sides::compare_events() {
  // The embedded store tells them after it has answered. What is missing for long is shown below.
  const auto end = std::chrono::steady_clock::now() + 2s;
  while (embedded_.heard->size() != valkey_.heard->size() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(20us);
  const auto embedded = embedded_.heard->take();
  const auto valkey = valkey_.heard->take();
  if (embedded != valkey)
    disagree(fmt::format("events\n  embedded {}\n  valkey   {}",
                         fmt::join(embedded, "\n           "), fmt::join(valkey, "\n           ")));
}

void Sides::check_indexes() {
  for (auto* side : {&embedded_, &valkey_}) {
    std::vector<store::Reconcile> all;
    for (PartitionIndex i = 0; i < side->store->partition_count(); ++i)
      all.push_back({.partition = i});
    std::size_t repaired = 0;
    for (const auto& reply :
         test::run_blocking(side->engine->executor(), side->store->run_all(std::move(all))))
      repaired += must(reply).repaired;
    for (const auto& scanner : side->engine->scanners().status())
      if (scanner.name == "index_reconciler") repaired += scanner.changed;
    if (repaired > 0)
      disagree(
          fmt::format("{}: {} entries of the indexes had to be repaired", side->name, repaired));
  }
}

std::future<Result<valkey::Reply>> Sides::stored_states(const ExecutionId& id) {
  valkey::Request request{.command = {"HMGET", valkey_store::keys::core(id), "lifecycle_phase",
                                      "ownership_state", "eligibility_state", "blocking_reason",
                                      "terminal_outcome", "attempt_state", "public_state"}};
  return test::start(runtime_.executor(), client_.run(std::move(request)));
}

std::vector<ExecutionInfo> Sides::list(const ListExecutions& query) {
  const auto embedded = list(*embedded_.engine, query);
  const auto valkey = list(*valkey_.engine, query);
  const auto text = [](const std::vector<ExecutionInfo>& all) {
    std::string lines;
    for (const auto& each : all) lines += boost::json::serialize(http::to_fields(each)) + "\n";
    return lines;
  };
  compare("list", text(embedded), text(valkey));
  return embedded;
}

std::vector<ExecutionInfo> Sides::list(Engine& engine, ListExecutions query) {
  std::vector<ExecutionInfo> all;
  do {
    auto page = must(run_blocking(engine, query));
    std::ranges::move(page.executions, std::back_inserter(all));
    query.cursor = std::move(page.next);
  } while (query.cursor);
  return all;
}

void Sides::compare(std::string_view what, const std::string& embedded, const std::string& valkey) {
  constexpr std::size_t shown_max = 3'000;
  if (embedded != valkey)
    disagree(fmt::format("{}\n  embedded {}\n  valkey   {}", what, embedded.substr(0, shown_max),
                         valkey.substr(0, shown_max)));
}

}  // namespace ff::differential
