#include "store/embedded/resources/lanes.hpp"

#include <flowfabric/limits.hpp>

#include "base/try.hpp"
#include "core/refusals.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/resource_records.hpp"

namespace ff::embedded {

Result<void> Lanes::restore(const Database& database) {
  core::PausedLanes::All all;
  auto restored = database.for_each(
      {.prefix = std::string(keys::lane_pause_prefix)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto at = keys::parse_lane_pause(key);
        FF_TRY(at);
        auto pause = decode_lane_pause(value);
        FF_TRY(pause);
        all.emplace(core::PausedLanes::Key{at->ns, at->lane}, std::move(*pause));
        return Database::Next::go_on;
      });
  FF_TRY(restored);
  paused_.replace(std::move(all));
  return {};
}

// Claims pass over a lane before its pause is on disk: only the reply has to wait.
void Lanes::show(core::PausedLanes::All all) {
  if (paused_.replace(std::move(all))) on_change_();
}

Result<LanePauseReply> Lanes::execute(const core::HoldLane& command, Turn& turn) {
  turn.see(durable_in_);
  const auto paused = paused_.get();
  const auto* before = paused->find(command.ns, command.lane);
  if (!before && paused->all().size() >= limits::paused_lanes_of_store_max)
    return core::refusals::too_many_paused_lanes();
  if (!before && paused->count_of(command.ns) >= limits::paused_lanes_max)
    return core::refusals::too_many_paused_lanes(command.ns);
  auto reply = core::hold(before, command, turn.now());
  if (before && *before == *reply.pause) return reply;
  turn.put(keys::lane_pause(command.ns, command.lane), encode(*reply.pause));
  durable_in_ = std::max(durable_in_, turn.durable_in());
  auto all = paused->all();
  all[{command.ns, command.lane}] = *reply.pause;
  show(std::move(all));
  return reply;
}

Result<LanePauseReply> Lanes::execute(const ResumeLane& command, Turn& turn) {
  turn.see(durable_in_);
  const auto paused = paused_.get();
  if (!paused->has(command.ns, command.lane)) return LanePauseReply{.unchanged = true};
  turn.erase(keys::lane_pause(command.ns, command.lane));
  durable_in_ = std::max(durable_in_, turn.durable_in());
  auto all = paused->all();
  all.erase({command.ns, command.lane});
  show(std::move(all));
  return LanePauseReply{};
}

Result<std::size_t> Lanes::execute(const core::RefreshPausedLanes&, Turn& turn) {
  turn.see(durable_in_);
  return paused_.get()->all().size();
}

}  // namespace ff::embedded
