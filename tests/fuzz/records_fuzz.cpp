// A stored record is damaged, or it is the same when it is written and read again, and everything that is
// derived from it can be.
#include <google/protobuf/stubs/logging.h>

#include "core/execution/execution.hpp"
#include "store/embedded/disk/records.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace ff::fuzz {
namespace {

using namespace ff::embedded;

const ExecutionId id{7, Uuid{}};

void check_execution(std::string_view bytes) {
  const auto execution = decode(id, bytes);
  if (!execution) return;
  const auto written = encode(*execution);
  const auto again = decode(id, written);
  expect(again.has_value() && encode(*again) == written, "an execution survives the disk");
  core::info_of(*execution);
  core::next_timer(*execution);
  core::next_attempt_type(*execution);
  core::is_claimable(*execution, execution->created_at);
  core::ready_score(execution->priority, execution->queued_at);
  if (core::has_ended(*execution)) core::retained_until(*execution);
}

void check_attempt(std::string_view bytes) {
  const auto attempt = decode_attempt(id, bytes);
  if (!attempt) return;
  const auto written = encode(*attempt);
  const auto again = decode_attempt(id, written);
  expect(again.has_value() && *again == *attempt, "an attempt survives the disk");
  core::info_of(*attempt, false);
}

void check_idempotency(std::string_view bytes) {
  const auto entry = decode_idempotency(bytes);
  if (entry) expect(decode_idempotency(encode(*entry))->id == entry->id, "a key survives the disk");
}

void check_counts(std::string_view bytes) {
  const auto counts = decode_ended(bytes);
  if (counts) expect(*decode_ended(encode_ended(*counts)) == *counts, "counts survive the disk");
}

}  // namespace
}  // namespace ff::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ff::fuzz;
  google::protobuf::SetLogHandler(nullptr);  // it would tell of every damaged record
  auto input = as_text(data, size);
  constexpr std::array checks{&check_execution, &check_attempt, &check_idempotency, &check_counts};
  checks[choose(input, checks.size())](input);
  return 0;
}
