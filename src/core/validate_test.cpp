#include "core/validate.hpp"

#include <flowfabric/limits.hpp>

#include <gtest/gtest.h>

namespace ff::core {
namespace {

using namespace std::chrono_literals;

// "ok", or "code: field".
std::string verdict(const Result<void>& checked) {
  if (checked) return "ok";
  std::string field;
  for (const auto& detail : checked.error().details)
    if (detail.name == "field") field = detail.value;
  return std::string(checked.error().name()) + ": " + field;
}

std::string verdict(const auto& operation) { return verdict(validate(operation, 256)); }

Submit submit() { return {.kind = *Kind::parse("greet")}; }
Claim claim() { return {.worker = *WorkerId::parse("w1")}; }

TEST(Validate, TakesWhatIsRight) {
  EXPECT_EQ(verdict(submit()), "ok");
  EXPECT_EQ(verdict(claim()), "ok");
}

TEST(Validate, ChecksEveryFieldOfSubmit) {
  const auto with = [](auto change) {
    auto operation = submit();
    change(operation);
    return verdict(operation);
  };
  EXPECT_EQ(with([](Submit& s) { s.kind = {}; }), "invalid_input: kind");
  EXPECT_EQ(with([](Submit& s) { s.lane = {}; }), "invalid_input: lane");
  EXPECT_EQ(with([](Submit& s) { s.ns = {}; }), "invalid_input: namespace");
  EXPECT_EQ(with([](Submit& s) { s.priority = -1; }), "invalid_input: priority");
  EXPECT_EQ(with([](Submit& s) { s.priority = 9001; }), "invalid_input: priority");
  EXPECT_EQ(with([](Submit& s) { s.priority = 9000; }), "ok");
  EXPECT_EQ(with([](Submit& s) { s.id = ExecutionId{255, {}}; }), "ok");
  EXPECT_EQ(with([](Submit& s) { s.id = ExecutionId{256, {}}; }), "invalid_input: id");
  EXPECT_EQ(with([](Submit& s) { s.payload.resize(limits::payload_bytes_max); }), "ok");
  EXPECT_EQ(with([](Submit& s) { s.payload.resize(limits::payload_bytes_max + 1); }),
            "payload_too_large: payload");
}

TEST(Validate, ChecksEveryFieldOfClaim) {
  const auto with = [](auto change) {
    auto operation = claim();
    change(operation);
    return verdict(operation);
  };
  EXPECT_EQ(with([](Claim& c) { c.worker = {}; }), "invalid_input: worker");
  EXPECT_EQ(with([](Claim& c) { c.ns = {}; }), "invalid_input: namespace");
  EXPECT_EQ(with([](Claim& c) { c.lanes = {}; }), "invalid_input: lanes");
  EXPECT_EQ(with([](Claim& c) { c.lanes = {LaneId{}}; }), "invalid_input: lanes");
  EXPECT_EQ(with([](Claim& c) { c.lanes.assign(65, default_lane()); }), "invalid_input: lanes");
  EXPECT_EQ(with([](Claim& c) { c.max = 0; }), "invalid_input: max");
  EXPECT_EQ(with([](Claim& c) { c.max = 257; }), "invalid_input: max");
  EXPECT_EQ(with([](Claim& c) { c.lease_ttl = 0ms; }), "invalid_input: lease_ttl_ms");
  EXPECT_EQ(with([](Claim& c) { c.lease_ttl = 25h; }), "invalid_input: lease_ttl_ms");
  EXPECT_EQ(with([](Claim& c) { c.wait = -1ms; }), "invalid_input: wait_ms");
  EXPECT_EQ(with([](Claim& c) { c.wait = 61s; }), "invalid_input: wait_ms");
}

TEST(Validate, ChecksWhatAWorkerReports) {
  const ExecutionId id{1, {}};
  EXPECT_EQ(verdict(Renew{.id = id, .fence = {}, .lease_ttl = 0ms}), "invalid_input: lease_ttl_ms");
  EXPECT_EQ(verdict(Complete{
                .id = id, .fence = {}, .result = std::string(limits::result_bytes_max + 1, 'r')}),
            "payload_too_large: result");
  EXPECT_EQ(verdict(Fail{
                .id = id, .fence = {}, .reason = std::string(limits::reason_bytes_max + 1, 'r')}),
            "invalid_input: reason");
  EXPECT_EQ(verdict(Fail{.id = id, .fence = {}, .reason = "bad \xff"}), "invalid_input: reason");
  EXPECT_EQ(verdict(Fail{.id = id, .fence = {}, .reason = ""}), "invalid_input: reason");
  EXPECT_EQ(verdict(Fail{.id = id, .fence = {}, .reason = "r", .category = std::string(65, 'c')}),
            "invalid_input: category");
  EXPECT_EQ(verdict(GetResult{.id = id, .wait = 61s}), "invalid_input: wait_ms");
  EXPECT_EQ(verdict(GetExecution{.id = ExecutionId{256, {}}}), "invalid_input: id");
}

}  // namespace
}  // namespace ff::core
