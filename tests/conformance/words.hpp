// Short words for the values that tests name, and replies as one line of text.
#pragma once

#include <flowfabric/operations.hpp>

#include <fmt/format.h>

namespace ff::conformance {

inline Kind kind(const char* text) { return must(Kind::parse(text)); }
inline LaneId lane(const char* text) { return must(LaneId::parse(text)); }
inline Namespace ns(const char* text) { return must(Namespace::parse(text)); }
inline WorkerId worker(const char* text) { return must(WorkerId::parse(text)); }
inline IdempotencyKey key(const char* text) { return must(IdempotencyKey::parse(text)); }
inline CapabilitySet caps(std::vector<std::string> tokens) {
  return must(CapabilitySet::parse(std::move(tokens)));
}
inline const Kind greet = kind("greet");

// The n-th id of a partition.
inline ExecutionId id_in(PartitionIndex partition, std::uint16_t n) {
  Uuid::Bytes bytes{};
  bytes[14] = static_cast<std::uint8_t>(n >> 8);
  bytes[15] = static_cast<std::uint8_t>(n);
  return {partition, Uuid{bytes}};
}
inline LeaseId lease_id(std::uint16_t n) { return LeaseId{id_in(0, n).uuid()}; }
inline RequestId request_id(std::uint16_t n) { return RequestId{id_in(0, n).uuid()}; }

inline std::vector<std::string> payloads(const ClaimReply& reply) {
  std::vector<std::string> all;
  for (const auto& each : reply.executions) all.push_back(each.payload);
  return all;
}

// "acquired#1 w1, expired#1 w1, …"
inline std::string text(const LeaseHistory& history) {
  std::string all;
  for (const auto& event : history.events) {
    all += (all.empty() ? "" : ", ") + std::string(to_string(event.type));
    if (event.lease_id) all += fmt::format("#{}", std::to_underlying(event.lease_epoch));
    if (event.worker) all += " " + event.worker->str();
    if (!event.reason.empty()) all += " (" + event.reason + ")";
  }
  return all;
}

// "0 initial by w1: failure (reason), 1 retry (cause) by w2: running, …"
inline std::string text(const Attempts& attempts) {
  std::string all;
  for (const auto& each : attempts.attempts) {
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", each.index, to_string(each.type));
    if (!each.cause.empty()) all += " (" + each.cause + ")";
    all += fmt::format(" by {}: {}", each.worker.str(), to_string(each.outcome));
    if (each.failure_reason) all += " (" + *each.failure_reason + ")";
  }
  return all;
}

// "default waiting 2, mail active 1, …"
inline std::string text(const StateCounts& counts) {
  std::string all;
  for (const auto& each : counts.counts)
    all += fmt::format("{}{} {} {}", all.empty() ? "" : ", ", each.lane.str(),
                       to_string(each.state), each.count);
  return all;
}

// "submitted, claimed, …"
inline std::string text(const EventPage& page) {
  std::string all;
  for (const auto& event : page.events)
    all += (all.empty() ? "" : ", ") + std::string(to_string(event.type));
  return all;
}

}  // namespace ff::conformance
