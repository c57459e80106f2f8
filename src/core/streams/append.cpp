#include <algorithm>

#include "core/execution/fence.hpp"
#include "core/streams/merge_patch.hpp"
#include "core/transitions/plan.hpp"

namespace ff::core {
namespace {

// The stream that the command names, opened if there is none.
Result<std::size_t> open_stream(Streams& streams, const AppendFrames& command,
                                std::uint64_t crashes) {
  auto& all = streams.all;
  const auto found = std::ranges::find(all, command.stream, &Stream::name);
  if (found == all.end()) {
    if (all.size() >= limits::streams_max) return refusals::too_many_streams(command.id);
    all.push_back({.name = command.stream,
                   .durability = command.durability,
                   .when_full = command.when_full,
                   .kind = command.kind,
                   .crashes = crashes});
    return all.size() - 1;
  }
  if (found->durability != command.durability)
    return refusals::stream_differs(command.stream, "durability", to_string(found->durability));
  if (found->when_full != command.when_full)
    return refusals::stream_differs(command.stream, "when_full", to_string(found->when_full));
  if (found->kind != command.kind)
    return refusals::stream_differs(command.stream, "kind", to_string(found->kind));
  return static_cast<std::size_t>(found - all.begin());
}

// The frames of the attempt that the store acknowledged and no longer has. Nobody minds those of a live stream; those
// of a durable one are on disk, whatever its writer claims.
std::uint64_t lost_by(const AppendFrames& command, std::uint64_t written) {
  switch (command.durability) {
    case StreamClass::durable: return 0;
    case StreamClass::buffered: return command.lost;
    case StreamClass::live: break;
  }
  return command.written > written ? command.written - written : command.lost;
}

// The first number that no frame had before a crash, however many of them the disk has lost.
std::uint64_t behind_crash(std::uint64_t next, std::uint64_t crashes) {
  constexpr int numbers_per_crash_bits = 32;
  return std::max((next >> numbers_per_crash_bits) + 1, crashes) << numbers_per_crash_bits;
}

// Only the holder of the lease under which a stream was written can tell which of its frames a crash may have lost.
bool may_have_lost(const Stream& stream, const Fence& fence, std::uint64_t crashes) {
  if (stream.next == 0 || stream.crashes == crashes) return false;
  return stream.durability == StreamClass::live ||
         (stream.durability == StreamClass::buffered && stream.writer != fence.lease_epoch);
}

// One append to one stream.
class Appending {
 public:
  Appending(PartitionView& view, const Execution& execution, Streams& streams, std::size_t index)
      : view_(view),
        execution_(execution),
        index_(static_cast<std::uint32_t>(index)),
        stream_(streams.all[index]) {}

  Result<void> make_room(std::uint64_t frames, std::uint64_t bytes) {
    while (!is_empty() && !has_room(frames, bytes)) {
      if (stream_.when_full == StreamFull::refuse) return refusals::stream_full(stream_.name);
      FF_TRY(erase_oldest());
    }
    return {};
  }

  // Returns the numbers of lost frames that the append tells of.
  Result<std::uint64_t> skip(std::uint64_t gap) {
    const bool is_summary = stream_.kind == StreamKind::summary;
    // A reader may have seen patches that were lost: it begins again with the document.
    while (gap > 0 && is_summary && !is_empty()) FF_TRY(erase_oldest());
    stream_.next += gap;
    if (is_summary && gap > 0) stream_.first = stream_.next;
    if (is_summary) return 0;
    stream_.lost += gap;
    return gap;
  }

  Result<void> merge(const std::vector<NewFrame>& patches) {
    auto text =
        stream_.version > 0 ? view_.find_document(execution_, index_) : std::string("null");
    FF_TRY(text);
    JsonDocument document(*text);
    for (const auto& patch : patches) document.merge(patch.bytes);
    auto merged = document.text();
    if (merged.size() > limits::summary_document_bytes_max)
      return refusals::summary_too_large(stream_.name);
    stream_.version += patches.size();
    changes_.emplace_back(PutBelonging{execution_.id, Belonging::document,
                                       StreamDocument{.stream = index_, .text = std::move(merged)}});
    return {};
  }

  AppendPlace place() const { return {index_, stream_.next}; }
  std::vector<Change> take_changes() { return std::move(changes_); }

 private:
  bool is_empty() const { return stream_.first == stream_.next; }

  bool has_room(std::uint64_t frames, std::uint64_t bytes) const {
    const auto limits = limits_of(stream_.durability, stream_.kind);
    return stream_.next - stream_.first - stream_.lost + frames <= limits.frames_max &&
           stream_.bytes + bytes <= limits.bytes_max;
  }

  Result<void> erase_oldest() {
    const auto oldest = view_.find_append(execution_, {index_, stream_.first});
    FF_TRY(oldest);
    changes_.emplace_back(EraseAppend{execution_.id, {index_, oldest->end}});
    stream_.first = oldest->end;
    stream_.bytes -= oldest->bytes;
    stream_.lost -= oldest->lost;
    return {};
  }

  PartitionView& view_;
  const Execution& execution_;
  std::uint32_t index_;
  Stream& stream_;
  std::vector<Change> changes_;
};

}  // namespace

Result<Plan<AppendReply>> decide(PartitionView& view, AppendFrames command, TimePoint now) {
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const auto& before = **found;
  FF_TRY(check_fence(before, command.fence, now));
  auto streams = before.has_streams ? view.find_streams(before) : Streams{};
  FF_TRY(streams);
  const auto crashes = view.crash_count();
  const auto index = open_stream(*streams, command, crashes);
  FF_TRY(index);
  auto& stream = streams->all[*index];

  const auto attempt = before.attempt->index;
  const bool opens = stream.next == 0;
  const bool begins_attempt = !opens && stream.attempt != attempt;
  const bool is_unsure = may_have_lost(stream, command.fence, crashes);
  const auto written = stream.attempt == attempt ? stream.written : 0;
  const auto count = static_cast<std::uint32_t>(command.frames.size());
  if (command.written + count == written && count == stream.last_count)
    return Plan<AppendReply>{
        .reply = {.first = stream.next - count, .next = stream.next, .duplicate = true}};
  const auto lost = lost_by(command, written);
  if (command.written != written + lost)
    return refusals::stream_gap(command.stream, written, command.written);

  const auto added = count + (begins_attempt ? 1 : 0);
  const auto bytes = bytes_of(command.frames);
  Appending appending(view, before, *streams, *index);
  FF_TRY(appending.make_room(added, bytes));
  // Readers may have seen lost frames under these numbers.
  const auto gap = is_unsure ? behind_crash(stream.next, crashes) - stream.next
                             : lost + (lost > 0 && begins_attempt ? 1 : 0);
  const auto told = appending.skip(gap);
  FF_TRY(told);
  if (stream.kind == StreamKind::summary) FF_TRY(appending.merge(command.frames));
  stream.next += added;
  stream.bytes += bytes;
  stream.attempt = attempt;
  stream.written = written + lost + count;
  stream.last_count = count;
  stream.crashes = crashes;
  stream.writer = command.fence.lease_epoch;
  stream.last_at = std::max(stream.last_at, now);

  Plan<AppendReply> plan{.reply = {.first = stream.next - count, .next = stream.next}};
  // A stream that readers know of is not lost: a later one under its name would give its numbers again.
  plan.waits_for_disk = stream.durability == StreamClass::durable || opens;
  plan.changes = appending.take_changes();
  Append append{.place = appending.place(),
                .attempt = attempt,
                .at = stream.last_at,
                .lost = *told,
                .begins_attempt = begins_attempt,
                .frames = std::move(command.frames)};
  plan.changes.emplace_back(PutBelonging{before.id, Belonging::streams, std::move(*streams)});
  plan.changes.emplace_back(PutBelonging{before.id, Belonging::frames, std::move(append)});
  if (!before.has_streams) {
    Execution next = before;
    next.has_streams = true;
    plan.changes.emplace_back(std::in_place_type<PutExecution>, std::move(next), std::nullopt);
  }
  return plan;
}

}  // namespace ff::core
