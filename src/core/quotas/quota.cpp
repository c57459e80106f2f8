#include "core/quotas/quota.hpp"

#include <fmt/format.h>

#include <flowfabric/limits.hpp>

#include <algorithm>
#include <iterator>

#include "base/assert.hpp"
#include "base/text/named_uuid.hpp"

namespace ff::core {

void Window::add(const WindowEntry& place) {
  if (by_token_.emplace(place.token, place.at).second) places_.insert(place);
}

bool Window::remove(const QuotaTokenId& token) {
  const auto found = by_token_.find(token);
  if (found == by_token_.end()) return false;
  places_.erase({.at = found->second, .token = token});
  by_token_.erase(found);
  return true;
}

std::optional<TimePoint> Window::find(const QuotaTokenId& token) const {
  const auto found = by_token_.find(token);
  return found == by_token_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<WindowEntry> Window::forget_through(TimePoint time) {
  const auto end =
      std::ranges::find_if(places_, [&](const WindowEntry& each) { return each.at > time; });
  std::vector<WindowEntry> past(places_.begin(), end);
  places_.erase(places_.begin(), end);
  for (const auto& place : past) by_token_.erase(place.token);
  return past;
}

Millis jitter_of(const QuotaSpec& spec, const QuotaTokenId& token) {
  std::uint64_t random = 0;
  const auto& bytes = token.uuid().bytes();
  for (std::size_t i = 8; i < bytes.size(); ++i) random = random << 8 | bytes[i];
  const auto choices = static_cast<std::uint64_t>(spec.jitter.count()) + 1;
  return Millis{static_cast<Millis::rep>(random % choices)};
}

namespace {

// How many places at the front no longer count; few, if past ones are forgotten at times.
std::ptrdiff_t past_count(const Quota& quota, TimePoint now) {
  const auto& places = quota.window.places();
  const auto counts = [&](const WindowEntry& each) { return each.at + quota.spec.window > now; };
  return std::distance(places.begin(), std::ranges::find_if(places, counts));
}

std::uint64_t count_in_window(const Quota& quota, TimePoint now) {
  return quota.window.places().size() - static_cast<std::size_t>(past_count(quota, now));
}

// When the window has room, if it has none now.
std::optional<TimePoint> room_at(const Quota& quota, TimePoint now) {
  const auto& max = quota.spec.max_per_window;
  const auto count = count_in_window(quota, now);
  if (!max || count < *max) return std::nullopt;
  const auto excess = static_cast<std::ptrdiff_t>(count - *max);
  const auto must_go = std::next(quota.window.places().begin(), past_count(quota, now) + excess);
  return must_go->at + quota.spec.window;
}

std::optional<TimePoint> admitted_at(const Quota& quota, const QuotaTokenId& token) {
  const auto holder = quota.holders.find(token);
  if (holder != quota.holders.end()) return holder->second.admitted_at;
  return quota.window.find(token);
}

AdmitReply admitted(const QuotaTokenId& token, TimePoint at) {
  return {.token = QuotaToken{.id = token, .valid_until = at + limits::quota_token_valid}};
}

}  // namespace

QuotaId quota_of_key(const Namespace& ns, const LaneId& lane, const FairnessKey& key) {
  // Only a lane may have blanks.
  return QuotaId{named_uuid(Uuid{}, fmt::format("max_running {} {} {}", ns.str(), key.str(), lane.str()))};
}

Quota make_quota(const KeepQuota& command, TimePoint now) {
  return {.id = command.id,
          .ns = command.ns,
          .spec = {.max_concurrent = command.max_concurrent},
          .created_at = now};
}

Quota make_quota(const CreateQuota& command, TimePoint now) {
  FF_ASSERT(command.id);
  return {.id = *command.id, .ns = command.ns, .spec = command.spec, .created_at = now};
}

QuotaInfo info_of(const Quota& quota, TimePoint now) {
  return {.id = quota.id,
          .ns = quota.ns,
          .spec = quota.spec,
          .in_window = count_in_window(quota, now),
          .running = quota.holders.size(),
          .next_start_at = room_at(quota, now),
          .created_at = quota.created_at};
}

std::vector<WindowEntry> forget_past(Quota& quota, TimePoint now) {
  return quota.window.forget_through(now - quota.spec.window);
}

AdmitReply admit(Quota& quota, const Admit& command, TimePoint now) {
  if (const auto before = admitted_at(quota, command.token))
    return admitted(command.token, *before);
  const auto& spec = quota.spec;
  if (const auto room = room_at(quota, now))
    return {.refusal = QuotaRefusal::rate,
            .detail = rate_detail(quota.id, spec),
            .retry_at = *room + jitter_of(spec, command.token)};
  if (spec.max_concurrent && quota.holders.size() >= *spec.max_concurrent)
    return {.refusal = QuotaRefusal::concurrency, .detail = concurrency_detail(quota.id, spec)};
  if (spec.max_per_window) quota.window.add({.at = now, .token = command.token});
  if (spec.max_concurrent)
    quota.holders[command.token] = {.execution = command.execution, .admitted_at = now};
  return admitted(command.token, now);
}

Release release(Quota& quota, const ReleaseToken& command) {
  Release released{.slot = quota.holders.erase(command.token) > 0};
  const bool released_before = quota.spec.max_concurrent && !released.slot;
  if (!command.unused || released_before) return released;
  if (const auto at = quota.window.find(command.token)) {
    released.place = WindowEntry{.at = *at, .token = command.token};
    quota.window.remove(command.token);
  }
  return released;
}

std::vector<HeldToken> held(const Quota& quota, const HeldTokens& query) {
  std::vector<HeldToken> found;
  auto holder = query.after ? quota.holders.upper_bound(*query.after) : quota.holders.begin();
  for (; holder != quota.holders.end() && found.size() < query.max; ++holder)
    if (holder->second.admitted_at < query.before)
      found.push_back({.token = holder->first,
                       .execution = holder->second.execution,
                       .admitted_at = holder->second.admitted_at});
  return found;
}

std::string rate_detail(const QuotaId& quota, const QuotaSpec& spec) {
  const auto limit = spec.max_per_window.value_or(0);
  const std::chrono::duration<double> window = spec.window;
  return fmt::format("quota {}: rate limit {}/{} per {:g}s window", quota.str(), limit, limit,
                     window.count());
}

std::string concurrency_detail(const QuotaId& quota, const QuotaSpec& spec) {
  return fmt::format("quota {}: concurrency cap {}", quota.str(), spec.max_concurrent.value_or(0));
}

}  // namespace ff::core
