#include "store/embedded/disk/stream_records.hpp"

#include <fmt/format.h>

#include "records.pb.h"
#include "store/embedded/disk/record_reader.hpp"

namespace ff::embedded {

std::unexpected<Error> damaged_stream(const ExecutionId& id) {
  return fail(
      Errc::store_damaged,
      fmt::format("the streams of execution {} are damaged; restore the data directory from a "
                  "backup",
                  id.str()));
}

std::string encode(const core::Streams& streams) {
  proto::Streams out;
  for (const auto& stream : streams.all) {
    auto& stored = *out.add_all();
    stored.set_name(stream.name.str());
    stored.set_durability(std::to_underlying(stream.durability));
    stored.set_when_full(std::to_underlying(stream.when_full));
    stored.set_first(stream.first);
    stored.set_next(stream.next);
    stored.set_bytes(stream.bytes);
    stored.set_attempt(stream.attempt);
    stored.set_written(stream.written);
    stored.set_last_count(stream.last_count);
    stored.set_last_at_ms(stream.last_at.time_since_epoch().count());
    stored.set_kind(std::to_underlying(stream.kind));
    stored.set_lost(stream.lost);
    stored.set_version(stream.version);
    stored.set_crashes(stream.crashes);
    stored.set_writer(std::to_underlying(stream.writer));
  }
  return out.SerializeAsString();
}

Result<core::Streams> decode_streams(const ExecutionId& id, std::string_view bytes) {
  proto::Streams stored;
  if (!parse(stored, bytes)) return damaged_stream(id);
  RecordReader read;
  core::Streams streams;
  for (const auto& each : stored.all()) {
    if (each.first() > each.next() || each.lost() > each.next() - each.first())
      return damaged_stream(id);
    streams.all.push_back({.name = read.text<StreamName>(each.name()),
                           .durability = read.named<StreamClass>(each.durability()),
                           .when_full = read.named<StreamFull>(each.when_full()),
                           .kind = read.named<StreamKind>(each.kind()),
                           .first = each.first(),
                           .next = each.next(),
                           .bytes = each.bytes(),
                           .attempt = each.attempt(),
                           .written = each.written(),
                           .last_count = each.last_count(),
                           .last_at = TimePoint{Millis{each.last_at_ms()}},
                           .lost = each.lost(),
                           .version = each.version(),
                           .crashes = each.crashes(),
                           .writer = LeaseEpoch{each.writer()}});
  }
  if (!read.ok()) return damaged_stream(id);
  return streams;
}

std::string encode(const core::Append& append) {
  proto::Append out;
  out.set_attempt(append.attempt);
  out.set_at_ms(append.at.time_since_epoch().count());
  out.set_begins_attempt(append.begins_attempt);
  out.set_lost(append.lost);
  auto type = default_frame_type();
  for (const auto& frame : append.frames) {
    auto& stored = *out.add_frames();
    if (frame.type != type) stored.set_type(frame.type.str());
    type = frame.type;
    stored.set_bytes(frame.bytes);
    stored.set_correlation(frame.correlation);
  }
  return out.SerializeAsString();
}

Result<core::Append> decode_append(const ExecutionId& id, core::AppendPlace place,
                                   std::string_view bytes) {
  proto::Append stored;
  if (!parse(stored, bytes)) return damaged_stream(id);
  RecordReader read;
  core::Append append{.place = place,
                      .attempt = stored.attempt(),
                      .at = TimePoint{Millis{stored.at_ms()}},
                      .lost = stored.lost(),
                      .begins_attempt = stored.begins_attempt(),
                      .frames = {}};
  auto type = default_frame_type();
  for (auto& frame : *stored.mutable_frames()) {
    if (frame.has_type()) type = read.text<FrameType>(frame.type());
    append.frames.push_back({.type = type,
                             .bytes = std::move(*frame.mutable_bytes()),
                             .correlation = std::move(*frame.mutable_correlation())});
  }
  const auto count = append.frames.size() + (append.begins_attempt ? 1 : 0);
  if (!read.ok() || append.frames.empty() || count > place.end || append.lost > place.end - count)
    return damaged_stream(id);
  return append;
}

}  // namespace ff::embedded
