// The frames of one attempt, as the published contract has them: a view of the stream `output`.
#include <gmock/gmock.h>

#include "tests/conformance/suspensions/suspension_conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

AppendFrames append_output(const ClaimedExecution& claimed, std::uint64_t written,
                           std::vector<std::string> texts) {
  AppendFrames append{.id = claimed.id, .fence = claimed.fence, .written = written, .frames = {}};
  for (auto& text : texts) append.frames.push_back({.bytes = std::move(text)});
  return append;
}

std::string field_of(const AttemptFrame& frame, const std::string& name) {
  for (const auto& [each, value] : frame.fields.all)
    if (each == name) return value;
  return "(none)";
}

std::vector<std::string> payloads_in(const AttemptFrames& page) {
  std::vector<std::string> payloads;
  for (const auto& frame : page.frames) payloads.push_back(field_of(frame, "payload"));
  return payloads;
}

Submit retried_often() {
  return Submit{.kind = greet,
                .policy = {.retry = RetryPolicy{.max_retries = 3, .backoff = FixedBackoff{0ms}}}};
}

FrameCursor place(std::string text) { return must(FrameCursor::parse(std::move(text))); }

TEST_P(Conformance, FramesOfAnAttemptAreThoseOfTheOutputStream) {
  const auto id = submit();
  const auto claimed = claim();
  const std::string binary("\0\xff", 2);
  auto first = append_output(claimed, 0, {"hello", binary});
  first.frames[1].type = must(FrameType::parse("blob"));
  first.frames[1].correlation = "line 2";
  must(run(first));
  auto log = append_output(claimed, 0, {"another stream"});
  log.stream = must(StreamName::parse("log"));
  must(run(log));

  const auto page = must(run(ReadAttemptStream{.id = id}));
  EXPECT_EQ(page.count, 2u);
  EXPECT_THAT(payloads_in(page), ElementsAre("hello", binary));
  const auto ms = std::to_string(now().time_since_epoch().count());
  EXPECT_EQ(page.frames[0].id.str(), ms + "-0");
  EXPECT_EQ(page.frames[1].id.str(), ms + "-1");
  EXPECT_EQ(field_of(page.frames[0], "frame_type"), "data");
  EXPECT_EQ(field_of(page.frames[1], "frame_type"), "blob");
  EXPECT_EQ(field_of(page.frames[0], "ts"), ms);
  EXPECT_EQ(field_of(page.frames[0], "encoding"), "utf8");
  EXPECT_EQ(field_of(page.frames[1], "encoding"), "binary");
  EXPECT_EQ(field_of(page.frames[0], "source"), "worker");
  EXPECT_EQ(field_of(page.frames[0], "correlation_id"), "(none)");
  EXPECT_EQ(field_of(page.frames[1], "correlation_id"), "line 2");
  EXPECT_FALSE(page.closed_at);
  EXPECT_FALSE(page.closed_reason);
}

TEST_P(Conformance, FramesOfAnAttemptAreReadFromPlaceToPlace) {
  const auto id = submit(retried_often());
  const auto first = claim();
  must(run(append_output(first, 0, {"0", "1"})));
  advance(5ms);
  must(run(append_output(first, 2, {"2"})));
  advance(5ms);
  must(run(append_output(first, 3, {"3", "4", "5"})));
  must(run(failure(first)));
  const auto second = claim();
  must(run(append_output(second, 0, {"x", "y"})));

  const auto read = [&](std::uint32_t attempt, FrameCursor from, FrameCursor to,
                        std::uint32_t limit = 100) {
    return payloads_in(must(run(
        ReadAttemptStream{.id = id, .attempt = attempt, .from = from, .to = to, .limit = limit})));
  };
  const auto start = FrameCursor::start();
  const auto end = FrameCursor::end();
  const auto all = must(run(ReadAttemptStream{.id = id})).frames;
  ASSERT_EQ(all.size(), 6u);
  EXPECT_THAT(read(0, start, end), ElementsAre("0", "1", "2", "3", "4", "5"));
  EXPECT_THAT(read(0, start, end, 4), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(read(0, all[1].id, all[4].id), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(read(0, all[4].id, all[1].id), ElementsAre());
  const auto ms = [&](std::size_t frame) { return std::to_string(all[frame].id.first().ms); };
  EXPECT_THAT(read(0, place(ms(2)), end), ElementsAre("2", "3", "4", "5"));
  EXPECT_THAT(read(0, place(ms(2)), place(ms(2))), ElementsAre("2"));
  EXPECT_THAT(read(0, start, place(ms(0))), ElementsAre("0", "1"));
  EXPECT_THAT(read(0, place(ms(3) + "-4"), end), ElementsAre("4", "5"));
  EXPECT_THAT(read(0, place(ms(3) + "-99"), end), ElementsAre());
  EXPECT_THAT(read(0, place("18446744073709551615"), end), ElementsAre());
  EXPECT_THAT(read(1, start, end), ElementsAre("x", "y"));
  EXPECT_THAT(read(1, all[5].id, end), ElementsAre("x", "y"));
  EXPECT_THAT(read(2, start, end), ElementsAre());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(must(run(TailAttemptStream{.id = id, .after = all[i].id})).count, all.size() - 1 - i);
}

TEST_P(Conformance, FramesOfAnAttemptSurviveTrimmingAndARestart) {
  const auto id = submit();
  const auto claimed = claim();
  const std::string large(limits::frame_bytes_max - 100, 'x');
  std::uint64_t written = 0;
  for (; written < 300; written += 10)
    must(run(append_output(claimed, written, std::vector<std::string>(10, large))));
  must(run(append_output(claimed, written, {"last"})));
  home_->restart();
  const auto page = must(run(ReadAttemptStream{.id = id, .limit = 5}));
  ASSERT_EQ(page.count, 5u);
  const auto kept = must(run(ListStreams{id})).streams.at(0).first;
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(page.frames[0].id.first().seq, kept);
  const auto last = must(run(TailAttemptStream{
      .id = id, .after = FrameCursor::at({page.frames[0].id.first().ms, written - 1})}));
  EXPECT_THAT(payloads_in(last), ElementsAre("last"));
}

TEST_P(Conformance, ATailIsWokenByAFrameAndByTheEndOfItsAttempt) {
  const auto id = submit(retried_often());
  const auto claimed = claim();
  const auto tail = [&](FrameCursor after, std::uint32_t attempt = 0) {
    return start(
        TailAttemptStream{.id = id, .attempt = attempt, .after = after, .wait = wake_up_max});
  };
  auto waiting = tail(place("0-0"));
  must(run(append_output(claimed, 0, {"a"})));
  const auto page = must(waiting.get());
  EXPECT_THAT(payloads_in(page), ElementsAre("a"));
  EXPECT_FALSE(page.closed_at);
  waiting = tail(page.frames[0].id);
  must(run(failure(claimed)));
  const auto closed = must(waiting.get());
  EXPECT_EQ(closed.count, 0u);
  EXPECT_EQ(closed.closed_reason, "attempt_failure");
  EXPECT_EQ(closed.closed_at, now());

  waiting = tail(place("0"), 1);
  must(run(complete(claim())));
  EXPECT_EQ(must(waiting.get()).closed_reason, "attempt_success") << "it wrote nothing";
  EXPECT_EQ(must(run(TailAttemptStream{.id = id, .wait = wake_up_max})).count, 1u);
}

TEST_P(Conformance, ATailOfALostAttemptIsWoken) {
  const auto id = submit();
  claim("w1");
  auto waiting = start(TailAttemptStream{.id = id, .wait = wake_up_max});
  pass(lease_ttl);
  EXPECT_EQ(must(waiting.get()).closed_reason, "lease_expired");
  claim("w2");
  waiting = start(TailAttemptStream{.id = id, .attempt = 1, .wait = wake_up_max});
  must(run(RevokeLease{.id = id}));
  EXPECT_EQ(must(waiting.get()).closed_reason, "lease_revoked");
}

TEST_P(Conformance, AnAttemptsStreamSaysWhyItIsClosed) {
  const auto reason = [&](const ExecutionId& id, std::uint32_t attempt = 0) {
    const auto page = must(run(ReadAttemptStream{.id = id, .attempt = attempt}));
    EXPECT_EQ(page.closed_at.has_value(), page.closed_reason.has_value());
    return page.closed_reason.value_or("open");
  };
  auto id = submit();
  EXPECT_EQ(reason(id), "open") << "it has not begun";
  auto claimed = claim();
  EXPECT_EQ(reason(id), "open");
  must(run(complete(claimed)));
  EXPECT_EQ(reason(id), "attempt_success");
  EXPECT_EQ(reason(id, 1), "attempt_success") << "it never began";

  id = submit();
  must(run(failure(claim())));
  EXPECT_EQ(reason(id), "attempt_failure");

  id = submit();
  claim();
  must(run(Cancel{.id = id}));
  EXPECT_EQ(reason(id), "attempt_cancelled");
  id = submit();
  must(run(Cancel{.id = id}));
  EXPECT_EQ(reason(id), "attempt_cancelled");

  id = submit();
  must(run(suspend(claim(), for_signal("go"))));
  EXPECT_EQ(reason(id), "open") << "the attempt goes on";
  must(run(Cancel{.id = id}));
  EXPECT_EQ(reason(id), "attempt_cancelled");

  id = submit();
  auto asked = suspend(claim(), for_signal("go"));
  asked.timeout = 10s;
  asked.on_timeout = TimeoutAction::fail;
  must(run(asked));
  pass(10s);
  EXPECT_EQ(reason(id), "suspension_timeout");

  id = submit(Submit{.kind = greet, .policy = {.attempt_timeout = 10s}});
  claim();
  pass(10s);
  EXPECT_EQ(reason(id), "expired");

  id = submit();
  claim("w1");
  pass(lease_ttl);
  EXPECT_EQ(reason(id), "lease_expired");
  claim("w2");
  EXPECT_EQ(reason(id), "reclaimed");
  EXPECT_EQ(reason(id, 1), "open");
}

TEST_P(Conformance, ReadsOfAttemptsHaveLimits) {
  const auto id = submit();
  const auto message = [&](auto operation) {
    const auto reply = run(std::move(operation));
    EXPECT_FALSE(reply);
    return reply ? std::string() : reply.error().message;
  };
  EXPECT_THAT(message(ReadAttemptStream{.id = id, .limit = 0}), HasSubstr("limit must be >= 1"));
  EXPECT_THAT(message(ReadAttemptStream{.id = id, .limit = 1001}),
              HasSubstr("limit exceeds REST ceiling 1000; paginate via from/to for larger spans"));
  EXPECT_THAT(message(TailAttemptStream{.id = id, .limit = 1001}),
              HasSubstr("limit exceeds REST ceiling 1000; paginate via after for larger spans"));
  EXPECT_THAT(message(TailAttemptStream{.id = id, .wait = 30'001ms}),
              HasSubstr("block_ms exceeds 30000ms ceiling"));
  EXPECT_THAT(message(TailAttemptStream{.id = id, .after = FrameCursor::end()}),
              HasSubstr("after must be the id of a frame"));
  EXPECT_EQ(error_of(ReadAttemptStream{.id = id_in(3, 99)}), Errc::execution_not_found);
  EXPECT_EQ(error_of(TailAttemptStream{.id = id_in(3, 99), .wait = wake_up_max}),
            Errc::execution_not_found);
  EXPECT_EQ(must(run(ReadAttemptStream{.id = id, .limit = 1000})).count, 0u);
}

}  // namespace
}  // namespace ff::conformance
