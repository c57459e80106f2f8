// The part of a shard that reads and writes streams.
#include <algorithm>

#include "base/assert.hpp"
#include "base/try.hpp"
#include "core/streams/attempt_frames.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/stream_records.hpp"
#include "store/embedded/shard/shard.hpp"

namespace ff::embedded {

// Most appends to live streams change nothing on disk.
void Shard::put_streams(const ExecutionId& id, core::Streams streams, BatchNumber durable_in,
                        Batch& batch) {
  auto* record = hot_.find(id);
  FF_ASSERT(record);
  const auto stored = core::on_disk(streams);
  const bool is_stored = record->streams && core::on_disk(*record->streams) == stored;
  if (!is_stored) {
    batch.changes.put(keys::belonging(id, core::Belonging::streams), encode(stored));
    record->changed_in = batch.number;
    record->durable_in = std::max(record->durable_in, durable_in);
  }
  for (std::uint32_t i = 0; i < streams.all.size(); ++i)
    if (streams.all[i].durability == StreamClass::live) live_streams_.put(id, i, streams.all[i]);
  record->streams = std::make_unique<core::Streams>(std::move(streams));
  hot_.resized(id);
}

bool Shard::is_live(const ExecutionId& id, std::uint32_t stream) {
  const auto* record = hot_.find(id);
  if (!record || !record->streams) return false;
  const auto& all = record->streams->all;
  return stream < all.size() && all[stream].durability == StreamClass::live;
}

void Shard::put_append(const ExecutionId& id, core::Append append, Batch& batch) {
  if (is_live(id, append.place.stream)) return live_streams_.add(id, std::move(append));
  batch.changes.put(keys::frames(id, append.place), encode(append));
}

void Shard::erase_append(const core::EraseAppend& erase, Batch& batch) {
  if (is_live(erase.id, erase.place.stream))
    return live_streams_.erase_oldest(erase.id, erase.place.stream);
  batch.changes.erase(keys::frames(erase.id, erase.place));
}

// Their parts on disk are read again after they were written.
void Shard::forget_live_streams() {
  if (live_streams_.empty()) return;
  for (const auto& id : live_streams_.shrink(now()))
    if (auto* record = hot_.find(id)) {
      record->streams.reset();
      hot_.resized(id);
    }
}

// ---- As core sees them ---------------------------------------------------------------------------

Result<core::Streams> Shard::find_streams(const core::Execution& execution) {
  if (!execution.has_streams) return core::Streams{};
  auto* record = hot_.find(execution.id);
  FF_ASSERT(record);
  if (!record->streams) {
    const auto bytes = parts_.database.get(keys::belonging(execution.id, core::Belonging::streams));
    FF_TRY(bytes);
    if (!*bytes) return damaged_stream(execution.id);
    auto streams = decode_streams(execution.id, **bytes);
    FF_TRY(streams);
    for (std::uint32_t i = 0; i < streams->all.size(); ++i)
      if (const auto* live = live_streams_.find(execution.id, i)) streams->all[i] = *live;
    record->streams = std::make_unique<core::Streams>(std::move(*streams));
    hot_.resized(execution.id);
  }
  return *record->streams;
}

Result<core::AppendSize> Shard::find_append(const core::Execution& execution,
                                            core::AppendPlace place) {
  const auto id = execution.id;
  const auto size_of = [](const core::Append& append) {
    return core::AppendSize{
        .end = append.place.end, .bytes = core::bytes_of(append.frames), .lost = append.lost};
  };
  if (is_live(id, place.stream)) {
    for (const auto& append : live_streams_.appends(id, place.stream))
      if (append.place.end > place.end) return size_of(append);
    return damaged_stream(id);
  }
  FF_TRY(write_changes_of(id));
  std::optional<core::AppendSize> found;
  const auto visited = parts_.database.for_each(
      {.prefix = keys::frames_of(id, place.stream), .after = keys::frames(id, place)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto append = decode_append(id, keys::parse_frames(key), value);
        FF_TRY(append);
        found = size_of(*append);
        return Database::Next::stop;
      });
  FF_TRY(visited);
  if (!found) return damaged_stream(id);
  return *found;
}

Result<std::string> Shard::find_document(const core::Execution& execution, std::uint32_t stream) {
  const auto id = execution.id;
  FF_TRY(write_changes_of(id));
  auto text = parts_.database.get(keys::document(id, stream));
  FF_TRY(text);
  if (!*text) return damaged_stream(id);
  return std::move(**text);
}

// ---- Reads ---------------------------------------------------------------------------------------

Result<StreamPage> Shard::execute(const store::ReadFrames& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto& execution = (*record)->execution;
  const auto streams = find_streams(execution);
  FF_TRY(streams);
  const auto stream = std::ranges::find(streams->all, query.stream, &core::Stream::name);
  const auto end =
      core::has_ended(execution) ? std::optional(core::public_state(execution)) : std::nullopt;
  if (stream == streams->all.end()) return core::begin_page(nullptr, query.from, end);
  auto page = core::begin_page(&*stream, query.from, end);
  const auto index = static_cast<std::uint32_t>(stream - streams->all.begin());
  if (core::needs_snapshot(*stream, query.from)) {
    auto document = find_document(execution, index);
    FF_TRY(document);
    page.snapshot = {.document = std::move(*document), .version = stream->version};
  }
  if (page.next >= stream->next) return page;
  FF_TRY(add_frames(query, index, page));
  core::end_page(page, *stream, end);
  return page;
}

Result<void> Shard::for_each_append(const ExecutionId& id, core::AppendPlace behind,
                                    const std::function<bool(const core::Append&)>& visit) {
  if (is_live(id, behind.stream)) {
    for (const auto& append : live_streams_.appends(id, behind.stream))
      if (append.place.end > behind.end && !visit(append)) break;
    return {};
  }
  FF_TRY(write_changes_of(id));
  return parts_.database.for_each(
      {.prefix = keys::frames_of(id, behind.stream), .after = keys::frames(id, behind)},
      [&](std::string_view key, std::string_view value) -> Result<Database::Next> {
        const auto append = decode_append(id, keys::parse_frames(key), value);
        FF_TRY(append);
        return visit(*append) ? Database::Next::go_on : Database::Next::stop;
      });
}

// Those from `next` of the page on, as many as it holds.
Result<void> Shard::add_frames(const store::ReadFrames& query, std::uint32_t stream,
                               StreamPage& page) {
  const auto from = page.next;
  return for_each_append(query.id, {stream, from}, [&](const core::Append& append) {
    return core::add_to(page, append, from, {query.limit, query.bytes_max});
  });
}

Result<StreamList> Shard::execute(const ListStreams& query, Batch&) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto streams = find_streams((*record)->execution);
  FF_TRY(streams);
  return core::info_of(*streams);
}

// ---- Frames of an attempt ------------------------------------------------------------------------

// The append that has a frame of a stream, or the next one.
Result<std::optional<core::Append>> Shard::append_holding(const ExecutionId& id,
                                                          core::AppendPlace frame) {
  std::optional<core::Append> found;
  const auto visited = for_each_append(id, frame, [&](const core::Append& append) {
    found = append;
    return false;
  });
  FF_TRY(visited);
  return found;
}

// The number of the first frame of the attempt with that id or a later one: numbers, attempts and times grow
// together.
Result<std::uint64_t> Shard::find_first(const store::ReadAttemptFrames& query, std::uint32_t index,
                                        const core::Stream& stream) {
  auto low = stream.first;
  auto high = stream.next;
  auto next = query.first.seq;  // most readers go on behind a frame that they have seen
  bool is_guess = next > low && next <= high;
  while (low < high) {
    const auto number = is_guess ? next - 1 : low + (high - low) / 2;
    const auto append = append_holding(query.id, {index, number});
    FF_TRY(append);
    const auto& holds = *append;
    const bool is_of_attempt = holds && holds->attempt == query.attempt;
    if (is_guess && is_of_attempt && core::id_of(*holds, number).ms == query.first.ms) return next;
    is_guess = false;
    const bool is_before = holds && (holds->attempt < query.attempt ||
                                     (is_of_attempt && core::id_of(*holds, number) < query.first));
    if (is_before)
      low = number + 1;
    else
      high = number;
  }
  return low;
}

Result<AttemptFrames> Shard::execute(const store::ReadAttemptFrames& query, Batch& batch) {
  const auto record = load(query.id);
  FF_TRY(record);
  const auto attempts = attempts_of(**record, batch);
  FF_TRY(attempts);
  const auto& execution = (*record)->execution;
  AttemptFrames page;
  if (const auto closing = core::closing_of(execution, *attempts, query.attempt)) {
    page.closed_at = closing->at;
    page.closed_reason = std::string(closing->reason);
  }
  const auto streams = find_streams(execution);
  FF_TRY(streams);
  const auto stream = std::ranges::find(streams->all, default_stream(), &core::Stream::name);
  if (stream == streams->all.end()) return page;
  const auto index = static_cast<std::uint32_t>(stream - streams->all.begin());
  const auto first = find_first(query, index, *stream);
  FF_TRY(first);
  const auto visited = for_each_append(query.id, {index, *first}, [&](const core::Append& append) {
    return append.attempt == query.attempt &&
           core::add_to(page, append, query.first, query.last, query.limit);
  });
  FF_TRY(visited);
  return page;
}

}  // namespace ff::embedded
