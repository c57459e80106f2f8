#include "engine/streams/flow_place.hpp"

#include <charconv>

#include <fmt/format.h>

namespace ff {
namespace {

constexpr std::size_t place_bytes_max = 8 * 1024;

// Takes numbers and marks off the front; `ok` is false once there is something else.
class PlaceReader {
 public:
  explicit PlaceReader(std::string_view text) : text_(text) {}

  template <class Number>
  Number number() {
    Number value{};
    const auto [end, wrong] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    ok = ok && wrong == std::errc{} && value >= Number{};
    if (ok) text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  bool has(char mark) {
    if (!ok || !text_.starts_with(mark)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char mark) { ok = has(mark); }
  FlowPlace::StreamKey key() {
    FlowPlace::StreamKey key;
    key.node = number<std::uint32_t>();
    expect('.');
    key.stream = number<std::uint32_t>();
    expect('.');
    return key;
  }
  bool at_end() const { return ok && text_.empty(); }

  bool ok = true;

 private:
  std::string_view text_;
};

}  // namespace

std::string FlowPlace::str() const {
  auto text = std::to_string(since);
  for (const auto& [key, number] : next)
    text += fmt::format(",{}.{}.{}", key.node, key.stream, number);
  if (pass)
    text += fmt::format("/{}.{}.{}.{}", pass->until, pass->at.node, pass->at.stream, pass->next);
  return text;
}

Result<FlowPlace> FlowPlace::parse(std::string_view text) {
  FlowPlace place;
  if (text.empty()) return place;
  PlaceReader read(text.substr(0, place_bytes_max));
  place.since = read.number<std::int64_t>();
  while (read.has(',')) {
    const auto key = read.key();
    place.next[key] = read.number<std::uint64_t>();
  }
  if (read.has('/')) {
    Pass pass;
    pass.until = read.number<std::int64_t>();
    read.expect('.');
    pass.at = read.key();
    pass.next = read.number<std::uint64_t>();
    place.pass = pass;
  }
  if (!read.at_end() || text.size() > place_bytes_max)
    return fail_field(Errc::invalid_input, "after",
                      "this is not a place in the streams of a flow; send `next` of a page or the "
                      "last id of an event");
  return place;
}

}  // namespace ff
