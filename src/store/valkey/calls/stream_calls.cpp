#include "store/valkey/calls/stream_calls.hpp"

#include <algorithm>
#include <array>

#include "base/try.hpp"
#include "core/streams/attempt_frames.hpp"
#include "core/streams/stream.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/texts.hpp"

namespace ff::valkey_store {
namespace {

constexpr char between = '\x1f';

// As many parts as there are names for, or none.
template <std::size_t count>
std::optional<std::array<std::string_view, count>> split_into(std::string_view text) {
  std::array<std::string_view, count> parts;
  for (std::size_t i = 0; i < count; ++i) {
    const auto end = text.find(between);
    if ((end == std::string_view::npos) != (i + 1 == count)) return std::nullopt;
    parts[i] = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end == std::string_view::npos ? end : end + 1));
  }
  return parts;
}

struct IndexedStream {
  std::uint32_t index = 0;
  core::Stream stream;
};

// As lib/streams.lua tells of it.
std::optional<IndexedStream> read_stream(const std::string& name, std::string_view text) {
  const auto parts = split_into<15>(text);
  auto parsed = StreamName::parse(name);
  if (!parts || !parsed) return std::nullopt;
  const auto number = [&](std::size_t i) { return parse_number<std::uint64_t>((*parts)[i]); };
  const auto durability = from_name<StreamClass>((*parts)[1]);
  const auto when_full = from_name<StreamFull>((*parts)[2]);
  const auto kind = from_name<StreamKind>((*parts)[10]);
  for (const std::size_t i : {0, 3, 4, 5, 6, 7, 8, 9, 11, 12})
    if (!number(i)) return std::nullopt;
  if (!durability || !when_full || !kind) return std::nullopt;
  return IndexedStream{.index = static_cast<std::uint32_t>(*number(0)),
                       .stream = {.name = std::move(*parsed),
                                  .durability = *durability,
                                  .when_full = *when_full,
                                  .kind = *kind,
                                  .first = *number(3),
                                  .next = *number(4),
                                  .bytes = *number(5),
                                  .attempt = static_cast<std::uint32_t>(*number(6)),
                                  .written = *number(7),
                                  .last_count = static_cast<std::uint32_t>(*number(8)),
                                  .last_at = TimePoint{Millis{*number(9)}},
                                  .lost = *number(11),
                                  .version = *number(12)}};
}

// An entry: [id, [header, '', type and correlation, bytes, …]]; without frames if they are gone.
std::optional<core::Append> read_append(Reply& entry) {
  auto* parts = entry.as_array();
  auto* fields = parts && parts->size() == 2 ? (*parts)[1].as_array() : nullptr;
  if (!fields || fields->size() < 2) return std::nullopt;
  const auto id = text_in((*parts)[0]);
  const auto end = parse_number<std::uint64_t>(std::string_view(id).substr(0, id.find('-')));
  auto header_text = text_in((*fields)[0]);
  if (std::ranges::count(header_text, between) == 2) header_text += "\x1f" "0";  // nothing lost
  const auto header = split_into<4>(header_text);
  if (!end || !header) return std::nullopt;
  const auto attempt = parse_number<std::uint32_t>((*header)[0]);
  const auto at = parse_number<std::int64_t>((*header)[1]);
  const auto lost = parse_number<std::uint64_t>((*header)[3]);
  if (!attempt || !at || !lost) return std::nullopt;
  core::Append append{.place = {.end = *end},
                      .attempt = *attempt,
                      .at = TimePoint{Millis{*at}},
                      .lost = *lost,
                      .begins_attempt = (*header)[2] == "1",
                      .frames = {}};
  for (std::size_t i = 2; i + 1 < fields->size(); i += 2) {
    const auto name_text = text_in((*fields)[i]);
    const auto name = split_into<2>(name_text);
    auto* bytes = (*fields)[i + 1].as_text();
    if (!name || !bytes) return std::nullopt;
    auto type = FrameType::parse(std::string((*name)[0]));  // a contract's program writes any text
    append.frames.push_back({.type = std::move(type).value_or(default_frame_type()),
                             .bytes = std::move(*bytes),
                             .correlation = std::string((*name)[1])});
  }
  return append;
}

}  // namespace

FunctionCall call_for(AppendFrames& command) {
  const auto limits = core::limits_of(command.durability, command.kind);
  auto arguments =
      with_fence(command.fence, command.stream.str(), std::string(to_string(command.durability)),
                 std::string(to_string(command.when_full)), std::string(to_string(command.kind)),
                 std::to_string(command.written), std::to_string(command.lost),
                 std::to_string(limits::streams_max), std::to_string(limits.frames_max),
                 std::to_string(limits.bytes_max),
                 std::to_string(limits::summary_document_bytes_max));
  for (auto& frame : command.frames) {
    arguments.push_back(frame.type.str() + between + frame.correlation);
    arguments.push_back(std::move(frame.bytes));
  }
  return {"ff_append_frames", std::move(arguments)};
}

AppendReply read_answer(const AppendFrames&, Answer& answer) {
  AppendReply reply{.duplicate = answer.duplicate()};
  reply.first = static_cast<std::uint64_t>(answer.number());
  reply.next = static_cast<std::uint64_t>(answer.number());
  return reply;
}

FunctionCall call_for(const store::ReadFrames& query) {
  return {"ff_read_frames",
          {query.stream.str(), std::to_string(query.from), std::to_string(query.limit),
           std::to_string(query.bytes_max)}};
}
FunctionCall call_for(const ListStreams&) { return {"ff_list_streams"}; }

Result<StreamPage> read_list(const store::ReadFrames& query, std::vector<Reply> parts) {
  const auto state = parts.size() < 2 ? std::nullopt : from_name<ExecutionState>(text_in(parts[0]));
  if (!state) return malformed("ff_read_frames");
  const auto end = is_terminal(*state) ? state : std::nullopt;
  const auto text = text_in(parts[1]);
  if (text.empty()) return core::begin_page(nullptr, query.from, end);
  const auto stream = read_stream(query.stream.str(), text);
  if (!stream) return malformed("ff_read_frames");
  auto page = core::begin_page(&stream->stream, query.from, end);
  if (core::needs_snapshot(stream->stream, query.from)) {
    auto* document = parts.size() == 3 ? parts[2].as_text() : nullptr;
    if (!document) return malformed("ff_read_frames");
    page.snapshot = {.document = std::move(*document), .version = stream->stream.version};
    return page;
  }
  const auto from = page.next;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    auto append = read_append(parts[i]);
    if (!append) return malformed("ff_read_frames");
    const bool has_room = append->frames.empty()
                              ? core::skip_to(page, append->place.end)
                              : core::add_to(page, std::move(*append), from, {query.limit, query.bytes_max});
    if (!has_room) break;
  }
  core::end_page(page, stream->stream, end);
  return page;
}

Result<StreamList> read_list(const ListStreams&, std::vector<Reply> parts) {
  std::vector<IndexedStream> found;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    auto stream = read_stream(text_in(parts[i]), text_in(parts[i + 1]));
    if (!stream) return malformed("ff_list_streams");
    found.push_back(std::move(*stream));
  }
  std::ranges::sort(found, {}, &IndexedStream::index);
  core::Streams streams;
  for (auto& each : found) streams.all.push_back(std::move(each.stream));
  return core::info_of(streams);
}

FunctionCall call_for(const store::ReadAttemptFrames& query) {
  return {"ff_read_attempt_frames",
          {std::to_string(query.attempt), std::to_string(query.first.ms),
           std::to_string(query.first.seq), std::to_string(query.last.ms),
           std::to_string(query.last.seq), std::to_string(query.limit),
           std::to_string(core::attempt_page_bytes_max)}};
}

// closed_at, closed_reason, then entries: [id, [name, value, …]]
Result<AttemptFrames> read_list(const store::ReadAttemptFrames&, std::vector<Reply> parts) {
  if (parts.size() < 2) return malformed("ff_read_attempt_frames");
  AttemptFrames reply;
  if (const auto at = parse_number<std::int64_t>(text_in(parts[0]))) {
    reply.closed_at = TimePoint{Millis{*at}};
    reply.closed_reason = text_in(parts[1]);
  }
  for (std::size_t i = 2; i < parts.size(); ++i) {
    auto* entry = parts[i].as_array();
    auto* values = entry && entry->size() == 2 ? (*entry)[1].as_array() : nullptr;
    auto id = values ? FrameCursor::parse(text_in((*entry)[0])) : fail(Errc::internal, "");
    if (!id) return malformed("ff_read_attempt_frames");
    auto& frame = reply.frames.emplace_back(AttemptFrame{.id = std::move(*id), .fields = {}});
    for (std::size_t j = 0; j + 1 < values->size(); j += 2) {
      auto* bytes = (*values)[j + 1].as_text();
      frame.fields.all.emplace_back(text_in((*values)[j]), bytes ? std::move(*bytes) : "");
    }
  }
  reply.count = static_cast<std::uint32_t>(reply.frames.size());
  return reply;
}

}  // namespace ff::valkey_store
