// Whatever an id is parsed from, it says the same again.
#include <flowfabric/capabilities.hpp>
#include <flowfabric/ids.hpp>

#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "base/text/rfc3339.hpp"
#include "base/text/utf8.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace ff::fuzz {
namespace {

template <class Id>
bool is_spelling(const Id& id, std::string_view text) {
  return text == id.str();
}
bool is_spelling(const ExecutionId& id, std::string_view text) {
  return text == id.str() || text == fmt::format("{}-{}", id.partition(), id.uuid().str());
}

template <class Id>
void check_id(std::string_view text) {
  const auto id = Id::parse(std::string(text));
  if (!id) {
    expect(is_valid_utf8(id.error().message), "errors are valid UTF-8");
    return;
  }
  expect(is_spelling(*id, text), "an id has one spelling, an execution's two");
  expect(*Id::parse(id->str()) == *id, "what an id says is that id");
}

void check_time(std::string_view text) {
  const auto time = parse_rfc3339(text);
  if (time) expect(*parse_rfc3339(to_rfc3339(*time)) == *time, "a time is the same when written");
}

void check_base64(std::string_view text) {
  const auto bytes = base64_decode(text);
  if (bytes) expect(base64_encode(*bytes) == text, "bytes have one spelling");
  expect(*base64_decode(base64_encode(text)) == text, "bytes survive base64");
}

void check_capabilities(std::string_view text) {
  std::vector<std::string> tokens;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    tokens.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto set = CapabilitySet::parse(std::move(tokens));
  if (set) expect(set->covers(*set), "a set has what it has");
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ff;
  const auto text = fuzz::as_text(data, size);
  fuzz::check_id<Uuid>(text);
  fuzz::check_id<ExecutionId>(text);
  fuzz::check_id<LeaseId>(text);
  fuzz::check_id<Namespace>(text);
  fuzz::check_id<LaneId>(text);
  fuzz::check_id<WorkerId>(text);
  fuzz::check_id<IdempotencyKey>(text);
  fuzz::check_id<ContentType>(text);
  fuzz::check_id<TraceParent>(text);
  fuzz::check_time(text);
  fuzz::check_base64(text);
  fuzz::check_capabilities(text);
  return 0;
}
