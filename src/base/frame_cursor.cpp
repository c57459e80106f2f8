#include <flowfabric/frame_cursor.hpp>

#include <charconv>

#include <fmt/format.h>

#include "base/text/utf8.hpp"

namespace ff {
namespace {

std::optional<std::uint64_t> number_in(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

Result<FrameCursor> FrameCursor::parse(std::string text) {
  if (text == "-" || text == "start") return start();
  if (text == "+" || text == "end") return end();
  const std::string_view whole = text;
  const auto dash = whole.find('-');
  const auto ms = number_in(whole.substr(0, dash));
  const bool has_seq = dash != std::string_view::npos;
  const auto seq = has_seq ? number_in(whole.substr(dash + 1)) : std::nullopt;
  if (!ms || (has_seq && !seq))
    return fail(Errc::invalid_input,
                fmt::format("'{}' is not a place among frames; write start, end, <ms> or "
                            "<ms>-<seq>",
                            printable(text)));
  const FrameId first{*ms, seq.value_or(0)};
  return FrameCursor(std::move(text), first, {*ms, seq.value_or(UINT64_MAX)});
}

FrameCursor FrameCursor::at(FrameId id) { return {fmt::format("{}-{}", id.ms, id.seq), id, id}; }

}  // namespace ff
