#include "base/try.hpp"
#include "core/streams/merge_patch.hpp"
#include "core/validation/checks.hpp"
#include "core/validation/validate.hpp"

namespace ff::core {

// Beyond that a store does not count exactly.
constexpr std::uint64_t number_max = std::uint64_t{1} << 53;
// Of one attempt: far below, since numbers of lost frames are left out.
constexpr std::uint64_t written_max = std::uint64_t{1} << 40;

namespace {

// In a path, `.` and `..` are steps: clients and proxies resolve them.
Result<void> name_valid(const StreamName& stream) {
  FF_TRY(present("stream", stream));
  if (stream.str() != "." && stream.str() != "..") return {};
  return fail_field(Errc::invalid_input, "stream",
                    "stream must not be . or .., which URLs do not keep");
}

// A live stream and a summary are bounded by what they are for.
Result<void> kind_valid(const AppendFrames& operation) {
  const bool trims = operation.durability == StreamClass::live || operation.kind == StreamKind::summary;
  if (trims && operation.when_full == StreamFull::refuse)
    return fail_field(Errc::invalid_input, "when_full",
                      "a live stream and a summary do not refuse frames: they trim the oldest");
  return in_range<std::uint64_t>("lost", operation.lost, 0, operation.written);
}

Result<void> patches_valid(const AppendFrames& operation) {
  if (operation.kind != StreamKind::summary) return {};
  std::size_t members = 0;
  for (std::size_t i = 0; i < operation.frames.size(); ++i) {
    const auto field = [&] { return fmt::format("frames[{}].bytes", i); };
    const auto patch = check_json(operation.frames[i].bytes, limits::summary_depth_max);
    if (!patch)
      return fail_field(Errc::invalid_patch, field(),
                        fmt::format("{} is no merge patch: {}", field(), patch.error()));
    members += patch->members;
    if (members > limits::summary_call_members_max)
      return fail_field(Errc::invalid_patch, field(),
                        fmt::format("the patches of one call have at most {} members, those of "
                                    "inner objects included; send them in several calls",
                                    limits::summary_call_members_max));
  }
  return {};
}

}  // namespace

Result<void> validate(const AppendFrames& operation, PartitionIndex partition_count) {
  FF_TRY(all_of({
      validate_id(operation.id, partition_count),
      name_valid(operation.stream),
      in_range<std::uint64_t>("written", operation.written, 0, written_max),
      in_range<std::size_t>("frames", operation.frames.size(), 1, limits::append_frames_max),
      kind_valid(operation),
      amounts_valid("usage", operation.usage, 0),
  }));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < operation.frames.size(); ++i) {
    const auto& frame = operation.frames[i];
    const auto field = [&](std::string_view name) { return fmt::format("frames[{}].{}", i, name); };
    FF_TRY(all_of({
        present(field("type"), frame.type),
        fits(field("bytes"), frame.bytes.size(), limits::frame_bytes_max),
        short_text(field("correlation"), frame.correlation, limits::frame_correlation_bytes_max),
    }));
    bytes += frame.bytes.size();
  }
  FF_TRY(fits("frames", bytes, limits::append_bytes_max));
  return patches_valid(operation);
}

Result<void> validate(const ReadStream& operation, PartitionIndex partition_count) {
  return all_of({
      validate_id(operation.id, partition_count),
      present("stream", operation.stream),
      in_range<std::uint64_t>("from", operation.from, 0, number_max),
      in_range<std::uint32_t>("limit", operation.limit, 1, limits::stream_page_max),
      duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max),
  });
}

namespace {

Result<void> page_limit(std::uint32_t limit, std::string_view way) {
  if (limit == 0) return fail_field(Errc::invalid_input, "limit", "limit must be >= 1");
  if (limit <= limits::attempt_page_max) return {};
  return fail_field(Errc::invalid_input, "limit",
                    fmt::format("limit exceeds REST ceiling {}; paginate via {} for larger spans",
                                limits::attempt_page_max, way));
}

}  // namespace

Result<void> validate(const ReadAttemptStream& operation, PartitionIndex partition_count) {
  return all_of(
      {validate_id(operation.id, partition_count), page_limit(operation.limit, "from/to")});
}

Result<void> validate(const TailAttemptStream& operation, PartitionIndex partition_count) {
  FF_TRY(
      all_of({validate_id(operation.id, partition_count), page_limit(operation.limit, "after")}));
  if (!operation.after.is_concrete())
    return fail_field(Errc::invalid_input, "after",
                      "after must be the id of a frame: <ms> or <ms>-<seq>, 0-0 for the start");
  if (operation.wait < Millis{0})
    return fail_field(Errc::invalid_input, "block_ms", "block_ms must not be negative");
  if (operation.wait <= limits::attempt_tail_wait_max) return {};
  return fail_field(
      Errc::invalid_input, "block_ms",
      fmt::format("block_ms exceeds {}ms ceiling", limits::attempt_tail_wait_max.count()));
}

Result<void> validate(const CreateStreamTicket& operation, PartitionIndex partition_count) {
  return all_of({
      validate_id(operation.id, partition_count),
      duration_in_range("ttl_ms", operation.ttl, Millis{1}, limits::stream_ticket_ttl_max),
  });
}

Result<void> validate(const ReadFlowStream& operation, PartitionIndex) {
  return all_of({
      in_range<std::uint32_t>("limit", operation.limit, 1, limits::stream_page_max),
      duration_in_range("wait_ms", operation.wait, Millis{0}, limits::wait_max),
  });
}

}  // namespace ff::core
