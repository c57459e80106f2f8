#include "store/valkey/boot/contract_workers.hpp"

#include <flowfabric/limits.hpp>

#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/event_message.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/send_all.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {
namespace {

constexpr std::size_t read_at_once_max = 1'000;
// For how long a worker without heartbeats is taken to be there before it is looked up again.
constexpr Millis advertised_for{60'000};

Request on_key(std::vector<std::string> command) {
  const auto slot = slot_of(command[1]);
  return {.command = std::move(command), .route = slot};
}

std::optional<std::int64_t> number_in(const Reply& reply) {
  return parse_number<std::int64_t>(text_in(reply));
}
std::optional<TimePoint> time_in(const Reply& reply) {
  const auto ms = number_in(reply);
  return ms ? std::optional(TimePoint{Millis{*ms}}) : std::nullopt;
}

// Remaining lifetime of a liveness key, from PTTL: -2 if there is no key, -1 if it does not expire.
std::optional<Millis> alive_for(const Reply& reply) {
  const auto* ms = reply.as_int();
  if (!ms || *ms == -2) return std::nullopt;
  return *ms < 0 ? advertised_for : Millis{*ms};
}

// caps_csv, lanes_csv, ttl_ms, registered_at_ms, last_heartbeat_ms of the record. None if it is not there.
std::optional<ContractWorkerRecord> registered_record(std::string instance, const Reply& caps,
                                                      const Reply& alive) {
  const auto* fields = caps.as_array();
  if (!fields || fields->size() != 5 || !(*fields)[0].as_text()) return std::nullopt;
  const auto ttl = number_in((*fields)[2]);
  return ContractWorkerRecord{.instance = std::move(instance),
                              .capabilities = text_in((*fields)[0]),
                              .lanes = text_in((*fields)[1]),
                              .ttl = ttl ? std::optional(Millis{*ttl}) : std::nullopt,
                              .registered_at = time_in((*fields)[3]),
                              .last_seen_at = time_in((*fields)[4]),
                              .alive_for = alive_for(alive)};
}

std::optional<ContractWorkerRecord> advertised_record(std::string instance, const Reply& caps,
                                                      const Reply& alive) {
  if (text_in(caps).empty()) return std::nullopt;
  return ContractWorkerRecord{.instance = std::move(instance),
                              .capabilities = text_in(caps),
                              .lanes = {},
                              .alive_for = alive_for(alive)};
}

}  // namespace

// A worker that only advertised itself sets its sign of life once, when it starts, to keep a second one of
// its name away; that it has run out says nothing.
std::optional<WorkerInfo> worker_of(const ContractWorkerRecord& record, const Namespace& ns,
                                    TimePoint now) {
  auto id = WorkerId::parse(record.instance);
  if (!id || (record.ttl && !record.alive_for)) return std::nullopt;
  WorkerInfo worker{.worker = std::move(*id),
                    .ns = ns,
                    .lanes = {},
                    .capabilities = capabilities_in(record.capabilities),
                    .registered_at = record.registered_at.value_or(now),
                    .last_seen_at = record.last_seen_at.value_or(now),
                    .expires_at = now + (record.ttl ? *record.alive_for : advertised_for)};
  for (auto& text : split_csv(record.lanes))
    if (auto lane = LaneId::parse(std::move(text))) worker.lanes.push_back(std::move(*lane));
  return worker;
}

Async<std::vector<WorkerInfo>> ContractWorkers::live(Namespace ns, TimePoint now) {
  std::vector<Form> forms{Form::registered};
  if (ns == default_namespace()) forms.push_back(Form::advertised);
  std::vector<WorkerInfo> workers;
  for (const auto form : forms) {
    const auto key = form == Form::registered ? keys::contract_workers(ns)
                                              : std::string(keys::old_contract_workers);
    auto found = co_await instances(key);
    FF_CO_TRY(found);
    const auto stored = co_await records(form, ns, std::move(*found));
    FF_CO_TRY(stored);
    for (const auto& record : *stored)
      if (auto worker = worker_of(record, ns, now)) workers.push_back(std::move(*worker));
  }
  co_return workers;
}

// A set of something else has none.
Async<std::vector<std::string>> ContractWorkers::instances(std::string key) {
  std::vector<std::string> found;
  std::string cursor = "0";
  do {
    auto request = on_key({"SSCAN", key, cursor, "COUNT", std::to_string(read_at_once_max)});
    const auto reply = co_await client_.run(std::move(request));
    FF_CO_TRY(reply);
    const auto* parts = reply->as_array();
    const auto* members = parts && parts->size() == 2 ? (*parts)[1].as_array() : nullptr;
    if (!members) break;
    for (const auto& each : *members) found.push_back(text_in(each));
    cursor = text_in(parts->front());
  } while (cursor != "0" && found.size() < limits::workers_max);
  std::ranges::sort(found);
  // A scan may tell of one twice.
  const auto twice = std::ranges::unique(found);
  found.erase(twice.begin(), twice.end());
  if (found.size() > limits::workers_max) found.resize(limits::workers_max);
  co_return found;
}

asio::awaitable<std::vector<Result<Reply>>> ContractWorkers::send_all(
    std::vector<Request> requests) {
  return valkey_store::send_all(std::move(requests), [this](Request request, RequestDone done) {
    client_.send(std::move(request), std::move(done));
  });
}

Async<ContractWorkers::Records> ContractWorkers::records(Form form, const Namespace& ns,
                                                         std::vector<std::string> instances) {
  const bool registered = form == Form::registered;
  const auto key_of = [&](const std::string& instance, std::string_view what) {
    return registered ? keys::contract_worker(ns, instance, what)
                      : keys::old_contract_worker(instance, what);
  };
  Records found;
  for (std::size_t first = 0; first < instances.size(); first += read_at_once_max) {
    const auto last = std::min(first + read_at_once_max, instances.size());
    std::vector<Request> requests;
    for (auto i = first; i < last; ++i) {
      std::vector<std::string> read{registered ? "HMGET" : "GET", key_of(instances[i], "caps")};
      if (registered)
        for (const auto* field :
             {"caps_csv", "lanes_csv", "ttl_ms", "registered_at_ms", "last_heartbeat_ms"})
          read.emplace_back(field);
      requests.push_back(on_key(std::move(read)));
      requests.push_back(on_key({"PTTL", key_of(instances[i], "alive")}));
    }
    const auto replies = co_await send_all(std::move(requests));
    for (auto i = first; i < last; ++i) {
      const auto& caps = replies[2 * (i - first)];
      const auto& alive = replies[2 * (i - first) + 1];
      FF_CO_TRY(caps);
      FF_CO_TRY(alive);
      auto record = registered ? registered_record(std::move(instances[i]), *caps, *alive)
                               : advertised_record(std::move(instances[i]), *caps, *alive);
      if (record) found.push_back(std::move(*record));
    }
  }
  co_return found;
}

}  // namespace ff::valkey_store
