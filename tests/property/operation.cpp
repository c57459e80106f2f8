#include "tests/property/operation.hpp"

#include <ostream>

#include <fmt/format.h>

#include "base/overloaded.hpp"

namespace ff::property {

Namespace namespace_of(unsigned n) {
  return n == 0 ? default_namespace() : *Namespace::parse("ns1");
}
LaneId lane_of(unsigned n) { return *LaneId::parse(fmt::format("lane{}", n)); }
WorkerId worker_of(unsigned n) { return *WorkerId::parse(fmt::format("w{}", n)); }
std::string tag_key(unsigned n) { return fmt::format("app.k{}", n); }
std::string tag_value(unsigned n) { return fmt::format("v{}", n); }

std::vector<LaneId> lanes_of(unsigned bits) {
  std::vector<LaneId> lanes;
  for (unsigned lane = 0; lane < lane_count; ++lane)
    if (bits >> lane & 1) lanes.push_back(lane_of(lane));
  if (lanes.empty()) lanes.push_back(lane_of(0));
  return lanes;
}

CapabilitySet capabilities_of(unsigned bits) {
  std::vector<std::string> tokens;
  if (bits & 1) tokens.emplace_back("gpu");
  if (bits & 2) tokens.emplace_back("region=eu");
  return *CapabilitySet::parse(std::move(tokens));
}

std::string category_of(unsigned n) {
  constexpr std::array<const char*, 5> categories{"", "transient", "permanent", "timeout",
                                                  "cancelled"};
  return categories[n % categories.size()];
}

Uuid uuid_of(std::uint64_t sort, unsigned n) {
  Uuid::Bytes bytes{};
  bytes[0] = static_cast<std::uint8_t>(sort);
  bytes[6] = 0x40;
  bytes[8] = 0x80;
  bytes[12] = static_cast<std::uint8_t>(n >> 24);
  bytes[13] = static_cast<std::uint8_t>(n >> 16);
  bytes[14] = static_cast<std::uint8_t>(n >> 8);
  bytes[15] = static_cast<std::uint8_t>(n);
  return Uuid{bytes};
}

// ---- Printing --------------------------------------------------------------------------------------

namespace {

std::string show(const Target& target) {
  constexpr std::array<const char*, 8> names{"held", "granted", "waiting",     "ended",
                                             "all",  "unknown", "out_of_range"};
  return fmt::format("{}[{}]", names[static_cast<std::size_t>(target.among)], target.index);
}
std::string show(FenceChoice choice) {
  constexpr std::array<const char*, 5> names{"newest", "earlier", "foreign", "mixed", "invented"};
  return names[static_cast<std::size_t>(choice)];
}
std::string show(Verb verb) {
  constexpr std::array<const char*, 8> names{"renew", "progress",          "complete",  "fail",
                                             "delay", "wait_for_children", "hand_back", "cancel"};
  return names[static_cast<std::size_t>(verb)];
}
std::string show(const Wanted& w) {
  return fmt::format("worker={} ns={} lanes={} capabilities={}", w.worker, w.ns, w.lanes,
                     w.capabilities);
}
template <class T>
std::string show(std::string_view name, const std::optional<T>& value) {
  if (!value) return "";
  if constexpr (std::same_as<T, Millis>)
    return fmt::format(" {}={}ms", name, value->count());
  else if constexpr (std::same_as<T, FenceChoice>)
    return fmt::format(" {}={}", name, show(*value));
  else
    return fmt::format(" {}={}", name, *value);
}

std::string show(const Policy& policy) {
  std::string text = show("attempt_timeout", policy.attempt_timeout) +
                     show("execution_deadline", policy.execution_deadline) +
                     show("retention", policy.retention);
  if (const auto& retry = policy.retry) {
    text += fmt::format(" retries={}", retry->max_retries);
    if (const auto* fixed = std::get_if<FixedBackoff>(&retry->backoff))
      text += fmt::format("×{}ms", fixed->delay.count());
    for (const auto& category : retry->retryable_categories) text += " if=" + category;
  }
  return text + fmt::format(" reclaims={} replays={} dedup={}ms needs=[{}]",
                            policy.max_reclaim_count, policy.max_replay_count,
                            policy.dedup_window.count(), policy.required_capabilities.csv());
}
std::string show(const Submission& s) {
  return fmt::format("{{ns={} lane={} priority={}{}{}{}{} tags={}{}}}", s.ns, s.lane, s.priority,
                     show("delay", s.delay), show("deadline", s.deadline), show("key", s.key),
                     show("id", s.id), s.tags, show(s.policy));
}

}  // namespace

std::string show(const Operation& operation) {
  return std::visit(
      Overloaded{
          [](const SubmitOne& o) { return "submit " + show(o.submission); },
          [](const SubmitBatch& o) {
            std::string text = "submit_many";
            for (const auto& each : o.submissions) text += " " + show(each);
            return text;
          },
          [](const SubmitAgain& o) {
            return fmt::format("submit_again {} by_id={} other_content={}", show(o.target), o.by_id,
                               o.other_content);
          },
          [](const ClaimSome& o) {
            return fmt::format("claim {} max={} ttl={}ms{}", show(o.wanted), o.max, o.ttl.count(),
                               show("request", o.request));
          },
          [](const GrantOne& o) {
            return fmt::format("grant {} ttl={}ms", show(o.wanted), o.ttl.count());
          },
          [](const ClaimGrantedOne& o) {
            return fmt::format("claim_granted {} other_worker={}{} ttl={}ms", show(o.target),
                               o.other_worker, show("lease", o.lease), o.ttl.count());
          },
          [](const ClaimOne& o) {
            return fmt::format("claim_execution {} worker={} capabilities={}{} ttl={}ms{}",
                               show(o.target), o.worker, o.capabilities, show("lease", o.lease),
                               o.ttl.count(), show("again_by", o.again_by));
          },
          [](const ByWorker& o) {
            return fmt::format("{} {} fence={} time={}ms category={} repeat={}", show(o.verb),
                               show(o.target), show(o.fence), o.time.count(), o.category, o.repeat);
          },
          [](const CompleteBatch& o) {
            std::string text = "complete_many fence=" + show(o.fence);
            for (const auto& each : o.targets) text += " " + show(each);
            return text;
          },
          [](const CancelOne& o) { return "cancel_as_operator " + show(o.target); },
          [](const RevokeOne& o) { return "revoke " + show(o.target) + show("lease", o.lease); },
          [](const Prioritise& o) {
            return fmt::format("priority {} {}", show(o.target), o.priority);
          },
          [](const Tag& o) {
            return fmt::format("tag {} key={} value={} remove={}", show(o.target), o.key, o.value,
                               o.remove);
          },
          [](const ReplayOne& o) { return "replay " + show(o.target); },
          [](const Advance& o) { return fmt::format("advance {}ms", o.by.count()); },
          [](const Scan&) -> std::string { return "scan"; },
          [](const Restart& o) { return fmt::format("restart shards={}", o.shards); },
      },
      operation);
}

void showValue(const Operation& operation, std::ostream& out) { out << "\n  " << show(operation); }

void showValue(const Submission& submission, std::ostream& out) { out << show(submission); }

}  // namespace ff::property
