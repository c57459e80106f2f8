#include "core/streams/attempt_frames.hpp"

#include <algorithm>

#include "base/overloaded.hpp"
#include "base/text/utf8.hpp"

namespace ff::core {
namespace {

const Attempt* find(std::span<const Attempt> attempts, std::uint32_t index) {
  const auto found = std::ranges::find(attempts, index, &Attempt::index);
  return found == attempts.end() ? nullptr : &*found;
}

StreamClosing closing_of_lost(const Attempt& lost, const Attempt* next) {
  if (next && next->type == AttemptType::reclaim) return {next->started_at, "reclaimed"};
  const bool revoked =
      !lost.past_leases.empty() && lost.past_leases.back().end == LeaseEnd::revoked;
  return {lost.end->at, revoked ? "lease_revoked" : "lease_expired"};
}

std::string_view closing_reason(const AttemptEnd& end) {
  if (end.category == "timeout" || end.outcome == AttemptOutcome::cancelled) {
    if (end.reason.starts_with("suspension_timeout:")) return "suspension_timeout";
    if (end.reason == "attempt_timeout" || end.reason == "execution_deadline") return "expired";
    if (end.reason == "dependency_impossible") return "dependency_impossible";
  }
  if (end.outcome == AttemptOutcome::success) return "attempt_success";
  return end.outcome == AttemptOutcome::cancelled ? "attempt_cancelled" : "attempt_failure";
}

// Of an attempt that never began.
StreamClosing closing_of(const Ended& ended) {
  const auto reason = std::visit(Overloaded{[](const Completed&) { return "attempt_success"; },
                                            [](const Failed&) { return "attempt_failure"; },
                                            [](const Cancelled&) { return "attempt_cancelled"; },
                                            [](const Expired&) { return "expired"; },
                                            [](const Skipped&) { return "dependency_impossible"; }},
                                 ended.outcome);
  return {ended.at, reason};
}

FrameFields fields_of(const NewFrame& frame, TimePoint at) {
  FrameFields fields{{{"frame_type", frame.type.str()},
                      {"ts", std::to_string(at.time_since_epoch().count())},
                      {"payload", frame.bytes},
                      {"encoding", is_valid_utf8(frame.bytes) ? "utf8" : "binary"},
                      {"source", "worker"}}};
  if (!frame.correlation.empty()) fields.all.emplace_back("correlation_id", frame.correlation);
  return fields;
}

std::size_t bytes_of(const AttemptFrames& page) {
  std::size_t bytes = 0;
  for (const auto& frame : page.frames)
    for (const auto& [name, value] : frame.fields.all)
      if (name == "payload") bytes += value.size();
  return bytes;
}

}  // namespace

std::optional<StreamClosing> closing_of(const Execution& execution,
                                        std::span<const Attempt> attempts, std::uint32_t index) {
  const auto* attempt = find(attempts, index);
  const auto* ended = std::get_if<Ended>(&execution.state);
  if (!attempt) return ended ? std::optional(closing_of(*ended)) : std::nullopt;
  if (!attempt->end) return std::nullopt;
  if (attempt->end->outcome == AttemptOutcome::interrupted)
    return closing_of_lost(*attempt, find(attempts, index + 1));
  return StreamClosing{attempt->end->at, closing_reason(*attempt->end)};
}

FrameId id_of(const Append& append, std::uint64_t number) {
  return {static_cast<std::uint64_t>(append.at.time_since_epoch().count()), number};
}

bool add_to(AttemptFrames& page, const Append& append, const FrameId& first, const FrameId& last,
            std::uint32_t limit) {
  auto number = append.place.end - append.frames.size();
  auto bytes = bytes_of(page);
  for (const auto& frame : append.frames) {
    const auto id = id_of(append, number++);
    if (id < first) continue;
    if (id > last || page.count == limit || bytes >= attempt_page_bytes_max) return false;
    bytes += frame.bytes.size();
    page.frames.push_back({.id = FrameCursor::at(id), .fields = fields_of(frame, append.at)});
    ++page.count;
  }
  return true;
}

}  // namespace ff::core
