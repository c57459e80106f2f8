// A condition that is understood is the same when it is written and read again; others are refused.
#include "base/text/utf8.hpp"
#include "http/wire/wire.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace ff::fuzz {
namespace {

namespace json = boost::json;

Result<Suspend> read(const json::value& condition) {
  return http::from_fields<Suspend>(
      http::RequestFields{.url = {},
                          .body = {{"id", "{fp:7}:01920000-0000-7000-8000-000000000001"},
                                   {"lease_id", "01920000-0000-7000-8000-000000000002"},
                                   {"lease_epoch", 1},
                                   {"attempt_id", "01920000-0000-7000-8000-000000000003"},
                                   {"condition", condition}}});
}

void check(const json::value& condition) {
  const auto first = read(condition);
  if (!first) {
    expect(is_valid_utf8(first.error().message), "errors are valid UTF-8");
    return;
  }
  const auto second = read(http::to_fields(*first).at("condition"));
  expect(second.has_value(), "what is written can be read");
  expect(second->condition == first->condition, "what is read is what was written");
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  boost::system::error_code malformed;
  const auto parsed = boost::json::parse(ff::fuzz::as_text(data, size), malformed);
  if (!malformed) ff::fuzz::check(parsed);
  return 0;
}
