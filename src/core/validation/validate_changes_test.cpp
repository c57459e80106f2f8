#include "core/validation/validate_test.hpp"

namespace ff::core::validation {
namespace {

const ExecutionId in_no_partition{256, {}};
const std::string longest(limits::reason_bytes_max, 'r');
const std::string too_long(limits::reason_bytes_max + 1, 'r');

template <class Op>
std::string with(auto change) {
  Op operation;
  if constexpr (requires { operation.id = id; }) operation.id = id;
  if constexpr (requires { operation.worker; }) operation.worker = *WorkerId::parse("w1");
  change(operation);
  return verdict(operation);
}

// ---- Ids

template <class Op>
class AnyOperation : public ::testing::Test {};
using WithId =
    ::testing::Types<GetExecution, GetPayload, GetResult, GetAttempts, GetLeaseHistory, ReadEvents,
                     ClaimGranted, ClaimExecution, Renew, UpdateProgress, Complete, Fail, Delay,
                     WaitForChildren, Cancel, RevokeLease, ChangePriority, SetTags, Replay>;
TYPED_TEST_SUITE(AnyOperation, WithId);

TYPED_TEST(AnyOperation, NamesAPartitionThatExists) {
  const auto of = [](ExecutionId which) {
    return with<TypeParam>([&](TypeParam& operation) {
      operation.id = which;
      if constexpr (std::is_same_v<TypeParam, Fail>) operation.reason = "broke";
      if constexpr (std::is_same_v<TypeParam, SetTags>) operation.set = {{"app.k", "v"}};
    });
  };
  EXPECT_EQ(of(id), "ok");
  EXPECT_EQ(of(in_no_partition), "invalid_input: id");
}

// ---- Leases

template <class Op>
class Leasing : public ::testing::Test {};
using WithLease = ::testing::Types<ClaimGranted, ClaimExecution, Renew>;
TYPED_TEST_SUITE(Leasing, WithLease);

TYPED_TEST(Leasing, LimitsTheTime) {
  const auto ttl = [](Millis value) {
    return with<TypeParam>([&](TypeParam& operation) { operation.lease_ttl = value; });
  };
  EXPECT_EQ(ttl(limits::lease_ttl_min), "ok");
  EXPECT_EQ(ttl(limits::lease_ttl_max), "ok");
  EXPECT_EQ(ttl(limits::lease_ttl_min - 1ms), "invalid_input: lease_ttl_ms");
  EXPECT_EQ(ttl(limits::lease_ttl_max + 1ms), "invalid_input: lease_ttl_ms");
}

TEST(ValidateLease, OfAClaimIsLimitedToo) {
  const auto ttl = [](Millis value) { return with<Claim>([&](Claim& c) { c.lease_ttl = value; }); };
  EXPECT_EQ(ttl(limits::lease_ttl_max), "ok");
  EXPECT_EQ(ttl(limits::lease_ttl_max + 1ms), "invalid_input: lease_ttl_ms");
  EXPECT_EQ(ttl(0ms), "invalid_input: lease_ttl_ms");
}

TEST(ValidateLease, NeedsAWorker) {
  EXPECT_EQ(with<ClaimGranted>([](auto& c) { c.worker = {}; }), "invalid_input: worker");
  EXPECT_EQ(with<ClaimExecution>([](auto& c) { c.worker = {}; }), "invalid_input: worker");
}

// ---- Reports of workers

TEST(ValidateProgress, LimitsPercentAndMessage) {
  const auto progress = [](std::optional<std::uint32_t> percent, std::string message) {
    return with<UpdateProgress>([&](UpdateProgress& u) {
      u.percent = percent;
      u.message = message;
    });
  };
  EXPECT_EQ(progress({}, ""), "ok");
  EXPECT_EQ(progress(0, longest), "ok");
  EXPECT_EQ(progress(100, ""), "ok");
  EXPECT_EQ(progress(101, ""), "invalid_input: percent");
  EXPECT_EQ(progress(1, too_long), "invalid_input: message");
  EXPECT_EQ(progress(1, bad_utf8), "invalid_input: message");
}

TEST(ValidateComplete, LimitsTheResult) {
  const auto result = [](std::optional<std::string> value) {
    return with<Complete>([&](Complete& c) { c.result = value; });
  };
  EXPECT_EQ(result({}), "ok");
  EXPECT_EQ(result(std::string(limits::result_bytes_max, '\xff')), "ok");
  EXPECT_EQ(result(std::string(limits::result_bytes_max + 1, 'r')), "payload_too_large: result");
}

TEST(ValidateFail, NeedsAReasonOfLimitedSize) {
  const auto fail = [](std::string reason, std::string category) {
    return with<Fail>([&](Fail& f) {
      f.reason = reason;
      f.category = category;
    });
  };
  EXPECT_EQ(fail(longest, std::string(limits::category_bytes_max, 'c')), "ok");
  EXPECT_EQ(fail("", ""), "invalid_input: reason");
  EXPECT_EQ(fail(too_long, ""), "invalid_input: reason");
  EXPECT_EQ(fail(bad_utf8, ""), "invalid_input: reason");
  EXPECT_EQ(fail("r", std::string(limits::category_bytes_max + 1, 'c')), "invalid_input: category");
  EXPECT_EQ(fail("r", bad_utf8), "invalid_input: category");
}

TEST(ValidateDelay, LimitsTheTime) {
  const auto until = [](TimePoint time) { return with<Delay>([&](Delay& d) { d.until = time; }); };
  EXPECT_EQ(until(TimePoint{0ms}), "ok");
  EXPECT_EQ(until(limits::time_max), "ok");
  EXPECT_EQ(until(limits::time_max + 1ms), "invalid_input: until_ms");
  EXPECT_EQ(until(TimePoint{-1ms}), "invalid_input: until_ms");
}

// ---- Requests of operators

template <class Op>
class WithReason : public ::testing::Test {};
using GivesReason = ::testing::Types<Cancel, RevokeLease, Replay>;
TYPED_TEST_SUITE(WithReason, GivesReason);

TYPED_TEST(WithReason, LimitsTheReason) {
  const auto reason = [](std::string value) {
    return with<TypeParam>([&](TypeParam& operation) { operation.reason = value; });
  };
  EXPECT_EQ(reason(""), "ok");
  EXPECT_EQ(reason(longest), "ok");
  EXPECT_EQ(reason(too_long), "invalid_input: reason");
  EXPECT_EQ(reason(bad_utf8), "invalid_input: reason");
}

TEST(ValidateReplay, LimitsWhoAsked) {
  EXPECT_EQ(with<Replay>([](Replay& r) { r.requested_by = longest; }), "ok");
  EXPECT_EQ(with<Replay>([](Replay& r) { r.requested_by = too_long; }),
            "invalid_input: requested_by");
  EXPECT_EQ(with<Replay>([](Replay& r) { r.requested_by = bad_utf8; }),
            "invalid_input: requested_by");
}

TEST(ValidatePriority, IsFromZeroToItsLimit) {
  const auto priority = [](std::int32_t value) {
    return with<ChangePriority>([&](ChangePriority& c) { c.priority = value; });
  };
  EXPECT_EQ(priority(0), "ok");
  EXPECT_EQ(priority(limits::priority_max), "ok");
  EXPECT_EQ(priority(-1), "invalid_input: priority");
  EXPECT_EQ(priority(limits::priority_max + 1), "invalid_input: priority");
}

std::string tagged(std::string key, std::string value = "v") {
  return with<SetTags>([&](SetTags& s) { s.set = {{key, value}}; });
}

// The contract's own samples.
TEST(ValidateTags, NeedKeysWithANameBeforeTheDot) {
  for (const auto* key : {"a_1.b.c", "z.z", "app.Any thing", "a1.b."})
    EXPECT_EQ(tagged(key), "ok") << key;
  for (const auto* key : {"ab", "a.", "a..b", "A.b", "1a.b", "a-b.c", ".b", "_a.b"})
    EXPECT_EQ(tagged(key), std::string("invalid_tag_key: ") + key);
}

TEST(ValidateTags, LimitSizes) {
  EXPECT_EQ(tagged("a." + std::string(126, 'k'), std::string(1024, 'v')), "ok");
  EXPECT_EQ(tagged("a." + std::string(127, 'k')), "invalid_input: tag key");
  EXPECT_EQ(tagged("a.k", std::string(1025, 'v')), "invalid_input: tag value");
  EXPECT_EQ(tagged("a." + bad_utf8), "invalid_input: tag key");
  EXPECT_EQ(tagged("a.k", bad_utf8), "invalid_input: tag value");
}

TEST(ValidateTags, LimitTheirNumber) {
  EXPECT_EQ(with<SetTags>([](SetTags&) {}), "invalid_input: set");
  const auto removed = [](std::size_t count) {
    return with<SetTags>([&](SetTags& s) { s.remove.assign(count, "app.k"); });
  };
  EXPECT_EQ(removed(limits::tags_max), "ok");
  EXPECT_EQ(removed(limits::tags_max + 1), "invalid_input: remove");
  const auto set = [](std::size_t count) {
    return with<SetTags>([&](SetTags& s) {
      for (std::size_t i = 0; i < count; ++i) s.set["app." + std::to_string(i)] = "v";
    });
  };
  EXPECT_EQ(set(limits::tags_max), "ok");
  EXPECT_EQ(set(limits::tags_max + 1), "invalid_input: set");
}

TEST(ValidateBackup, NeedsANameThatIsNotHidden) {
  const auto name = [](BackupName value) { return verdict(Backup{.name = value}); };
  EXPECT_EQ(name(*BackupName::parse("monday.1")), "ok");
  EXPECT_EQ(name(*BackupName::parse("..")), "invalid_input: name");
  EXPECT_EQ(name({}), "invalid_input: name");
}

// ---- Reading

TEST(ValidateReads, LimitTheWait) {
  const auto wait = [](Millis value) {
    const auto result = with<GetResult>([&](GetResult& g) { g.wait = value; });
    EXPECT_EQ(with<ReadEvents>([&](ReadEvents& r) { r.wait = value; }), result);
    return result;
  };
  EXPECT_EQ(wait(0ms), "ok");
  EXPECT_EQ(wait(limits::wait_max), "ok");
  EXPECT_EQ(wait(-1ms), "invalid_input: wait_ms");
  EXPECT_EQ(wait(limits::wait_max + 1ms), "invalid_input: wait_ms");
}

TEST(ValidateReads, LimitThePage) {
  const auto limit = [](std::uint32_t value) {
    const auto list = with<ListExecutions>([&](ListExecutions& l) { l.limit = value; });
    EXPECT_EQ(with<ReadEvents>([&](ReadEvents& r) { r.limit = value; }), list);
    return list;
  };
  EXPECT_EQ(limit(1), "ok");
  EXPECT_EQ(limit(1000), "ok");
  EXPECT_EQ(limit(0), "invalid_input: limit");
  EXPECT_EQ(limit(1001), "invalid_input: limit");
}

TEST(ValidateReads, NeedTheNamesThatAreGiven) {
  EXPECT_EQ(with<ListExecutions>([](auto& l) { l.ns = {}; }), "invalid_input: namespace");
  EXPECT_EQ(with<ListExecutions>([](auto& l) { l.lane = LaneId{}; }), "invalid_input: lane");
  EXPECT_EQ(with<ListExecutions>([](auto& l) { l.kind = Kind{}; }), "invalid_input: kind");
  EXPECT_EQ(with<CountExecutions>([](auto& c) { c.ns = {}; }), "invalid_input: namespace");
  EXPECT_EQ(with<CountExecutions>([](auto& c) { c.lane = LaneId{}; }), "invalid_input: lane");
  EXPECT_EQ(with<ReadEvents>([](auto& r) { r.ns = Namespace{}; }), "invalid_input: namespace");
  EXPECT_EQ(with<ReadEvents>([](auto& r) { r.lane = LaneId{}; }), "invalid_input: lane");
  EXPECT_EQ(with<ReadEvents>([](auto& r) { r.kind = Kind{}; }), "invalid_input: kind");
  EXPECT_EQ(with<ReadEvents>([](auto& r) { r.tag = "app.key=v"; }), "ok");
  for (const std::string no_key : {"key", "", "App.key", "app."})
    EXPECT_EQ(with<ReadEvents>([&](auto& r) { r.tag = no_key + "=v"; }),
              "invalid_tag_key: " + no_key);
  EXPECT_EQ(with<CountExecutions>([](auto& c) { c.lane = default_lane(); }), "ok");
}

TEST(ValidateList, NeedsATagWithItsValue) {
  EXPECT_EQ(with<ListExecutions>([](auto& l) { l.tag = "app.k=v=w"; }), "ok");
  EXPECT_EQ(with<ListExecutions>([](auto& l) { l.tag = "app.k="; }), "ok");
  EXPECT_EQ(with<ListExecutions>([](auto& l) { l.tag = "app.k"; }), "invalid_input: tag");
}

TEST(ValidateList, LimitsTimes) {
  EXPECT_EQ(
      with<ListExecutions>([](auto& l) { l.created_from = l.created_before = limits::time_max; }),
      "ok");
  EXPECT_EQ(with<ListExecutions>([](auto& l) { l.created_from = TimePoint{-1ms}; }),
            "invalid_input: created_from_ms");
  EXPECT_EQ(with<ListExecutions>([](auto& l) { l.created_before = limits::time_max + 1ms; }),
            "invalid_input: created_before_ms");
}

}  // namespace
}  // namespace ff::core::validation
