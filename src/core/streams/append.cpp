#include <algorithm>

#include "core/execution/fence.hpp"
#include "core/transitions/plan.hpp"

namespace ff::core {
namespace {

// The stream that the command names, opened if there is none.
Result<std::size_t> open_stream(Streams& streams, const AppendFrames& command) {
  auto& all = streams.all;
  const auto found = std::ranges::find(all, command.stream, &Stream::name);
  if (found == all.end()) {
    if (all.size() >= limits::streams_max) return refusals::too_many_streams(command.id);
    all.push_back(
        {.name = command.stream, .durability = command.durability, .when_full = command.when_full});
    return all.size() - 1;
  }
  if (found->durability != command.durability)
    return refusals::stream_differs(command.stream, "durability", to_string(found->durability));
  if (found->when_full != command.when_full)
    return refusals::stream_differs(command.stream, "when_full", to_string(found->when_full));
  return static_cast<std::size_t>(found - all.begin());
}

bool has_room(const Stream& stream, std::uint64_t frames, std::uint64_t bytes) {
  return stream.next - stream.first + frames <= limits::stream_frames_max &&
         stream.bytes + bytes <= limits::stream_bytes_max;
}

}  // namespace

Result<Plan<AppendReply>> decide(PartitionView& view, AppendFrames command, TimePoint now) {
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const auto& before = **found;
  FF_TRY(check_fence(before, command.fence, now));
  auto streams = before.has_streams ? view.find_streams(before) : Streams{};
  FF_TRY(streams);
  const auto index = open_stream(*streams, command);
  FF_TRY(index);
  auto& stream = streams->all[*index];

  const auto attempt = before.attempt->index;
  const bool begins_attempt = stream.next > 0 && stream.attempt != attempt;
  const auto written = stream.attempt == attempt ? stream.written : 0;
  const auto count = static_cast<std::uint32_t>(command.frames.size());
  if (command.written + count == written && count == stream.last_count)
    return Plan<AppendReply>{
        .reply = {.first = stream.next - count, .next = stream.next, .duplicate = true}};
  if (command.written != written)
    return refusals::stream_gap(command.stream, written, command.written);

  const auto added = count + (begins_attempt ? 1 : 0);
  const auto bytes = bytes_of(command.frames);
  Plan<AppendReply> plan;
  while (!has_room(stream, added, bytes)) {
    if (stream.when_full == StreamFull::refuse) return refusals::stream_full(command.stream);
    const auto oldest =
        view.find_append(before, {static_cast<std::uint32_t>(*index), stream.first});
    FF_TRY(oldest);
    plan.changes.emplace_back(
        EraseAppend{before.id, {static_cast<std::uint32_t>(*index), oldest->end}});
    stream.first = oldest->end;
    stream.bytes -= oldest->bytes;
  }
  stream.next += added;
  stream.bytes += bytes;
  stream.attempt = attempt;
  stream.written = written + count;
  stream.last_count = count;
  stream.last_at = std::max(stream.last_at, now);
  const auto at = stream.last_at;

  plan.reply = {.first = stream.next - count, .next = stream.next};
  plan.waits_for_disk = stream.durability == StreamClass::durable;
  plan.changes.emplace_back(
      PutBelonging{before.id, Belonging::frames,
                   Append{.place = {static_cast<std::uint32_t>(*index), stream.next},
                          .attempt = attempt,
                          .at = at,
                          .begins_attempt = begins_attempt,
                          .frames = std::move(command.frames)}});
  plan.changes.emplace_back(PutBelonging{before.id, Belonging::streams, std::move(*streams)});
  if (!before.has_streams) {
    Execution next = before;
    next.has_streams = true;
    plan.changes.emplace_back(std::in_place_type<PutExecution>, std::move(next), std::nullopt);
  }
  return plan;
}

}  // namespace ff::core
