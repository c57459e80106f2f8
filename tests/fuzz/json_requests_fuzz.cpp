// A request that is understood is the same when it is written and read again.
#include <array>

#include "base/text/utf8.hpp"
#include "http/wire/json_parser.hpp"
#include "http/wire/wire.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace ff::fuzz {
namespace {

template <class Op>
void check(const http::RequestFields& request) {
  const auto operation = http::from_fields<Op>(request);
  if (!operation) {
    expect(is_valid_utf8(operation.error().message), "errors are valid UTF-8");
    return;
  }
  const auto written = http::to_fields(*operation);
  const auto again = http::from_fields<Op>(http::RequestFields{.url = {}, .body = written});
  expect(again.has_value(), "what is written can be read");
  expect(http::to_fields(*again) == written, "what is read is what was written");
}

template <class... Ops>
constexpr auto checks(OperationList<Ops...>) {
  return std::array{&check<Ops>...};
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ff;
  static constexpr auto all = fuzz::checks(EngineOperations{});
  auto input = fuzz::as_text(data, size);
  const auto choice = fuzz::choose(input, all.size());
  auto parsed = http::parse_json_object(input);
  if (parsed) all[choice]({.url = {}, .body = std::move(*parsed), .text = std::string(input)});
  return 0;
}
