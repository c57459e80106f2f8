#include "core/streams/stream.hpp"

#include <flowfabric/limits.hpp>

namespace ff::core {
namespace {

constexpr std::uint64_t bytes_per_frame = 32;  // about what it costs beside its bytes

std::uint64_t bytes_of(const NewFrame& frame) {
  return bytes_per_frame + frame.type.str().size() + frame.bytes.size() + frame.correlation.size();
}

std::uint64_t bytes_of(const StreamPage& page) {
  std::uint64_t bytes = 0;
  for (const auto& frame : page.frames) bytes += bytes_per_frame + frame.bytes.size();
  return bytes;
}

}  // namespace

std::uint64_t bytes_of(const std::vector<NewFrame>& frames) {
  std::uint64_t bytes = 0;
  for (const auto& frame : frames) bytes += bytes_of(frame);
  return bytes;
}

StreamLimits limits_of(StreamClass durability, StreamKind kind) {
  if (durability == StreamClass::live)
    return {.frames_max = limits::live_frames_max, .bytes_max = limits::live_bytes_max};
  if (kind == StreamKind::summary)
    return {.frames_max = limits::summary_frames_max, .bytes_max = limits::summary_bytes_max};
  return {.frames_max = limits::stream_frames_max, .bytes_max = limits::stream_bytes_max};
}

Streams on_disk(Streams streams) {
  constexpr std::uint64_t numbers_at_once = 4096;
  for (auto& stream : streams.all) {
    if (stream.durability != StreamClass::live) continue;
    stream.next = (stream.next / numbers_at_once + 1) * numbers_at_once;
    stream.first = stream.next;
    stream.bytes = stream.written = stream.lost = 0;
    stream.last_count = 0;
  }
  return streams;
}

bool needs_snapshot(const Stream& stream, std::uint64_t from) {
  return stream.version > 0 && (from == 0 || from < stream.first || from > stream.next);
}

StreamPage begin_page(const Stream* stream, std::uint64_t from, std::optional<ExecutionState> end) {
  const auto there = stream ? *stream : Stream{};
  StreamPage page{.frames = {}, .next = from};
  if (from > there.next) page.next = *(page.lost_from = there.next);
  if (needs_snapshot(there, from))
    page.next = there.next;
  else if (from < there.first)
    page.next = *(page.trimmed_to = there.first);
  end_page(page, there, end);
  return page;
}

std::vector<Frame> told_before(const StreamPage& page, std::uint64_t from) {
  std::vector<Frame> frames;
  if (page.lost_from)
    frames.push_back({.number = from - 1,
                      .kind = FrameKind::lost,
                      .at = {},
                      .type = default_frame_type(),
                      .lost_from = page.lost_from});
  if (page.snapshot)
    frames.push_back({.number = page.next - 1,
                      .at = {},
                      .type = *FrameType::parse("snapshot"),
                      .bytes = page.snapshot->document});
  return frames;
}

void end_page(StreamPage& page, const Stream& stream, std::optional<ExecutionState> end) {
  if (page.next >= stream.next) page.end = end;
}

bool add_to(StreamPage& page, Append append, std::uint64_t from, PageLimits most) {
  auto bytes = bytes_of(page);
  const auto add = [&](Frame frame) {
    if (frame.number < from) return true;
    if (page.frames.size() >= most.frames_max || bytes >= most.bytes_max) return false;
    bytes += bytes_per_frame + frame.bytes.size();
    page.next = frame.number + 1;
    page.frames.push_back(std::move(frame));
    return true;
  };
  auto number = append.place.end - append.frames.size();
  const auto first = number - (append.begins_attempt ? 1 : 0);
  if (append.lost > 0 && !add({.number = first - 1,
                               .kind = FrameKind::lost,
                               .attempt = append.attempt,
                               .at = append.at,
                               .type = default_frame_type(),
                               .lost_from = first - append.lost}))
    return false;
  if (append.begins_attempt && !add({.number = number - 1,
                                     .kind = FrameKind::attempt,
                                     .attempt = append.attempt,
                                     .at = append.at,
                                     .type = default_frame_type()}))
    return false;
  for (auto& frame : append.frames)
    if (!add({.number = number++,
              .attempt = append.attempt,
              .at = append.at,
              .type = std::move(frame.type),
              .bytes = std::move(frame.bytes),
              .correlation = std::move(frame.correlation)}))
      return false;
  return true;
}

bool skip_to(StreamPage& page, std::uint64_t number) {
  if (!page.frames.empty()) return false;
  page.next = number;
  page.trimmed_to = number;
  return true;
}

StreamList info_of(const Streams& streams) {
  StreamList list;
  for (const auto& stream : streams.all)
    list.streams.push_back({.name = stream.name,
                            .durability = stream.durability,
                            .first = stream.first,
                            .next = stream.next,
                            .bytes = stream.bytes,
                            .attempt = stream.attempt,
                            .written = stream.written,
                            .kind = stream.kind,
                            .version = stream.version});
  return list;
}

}  // namespace ff::core
