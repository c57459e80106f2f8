// Streams of attempts: what the contract's programs append and read, and what our engine makes of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/local_engine.hpp"
#include "store/valkey/open.hpp"
#include "tests/contract/suspensions/suspension_fixture.hpp"
#include "tests/support/blocking.hpp"

namespace ff::test {
namespace {

std::string stream_key(const std::string& what = "", int attempt = 0) {
  return fmt::format("ff:stream:{}:{}:{}{}", tag, E, attempt, what);
}
std::string summary_key(int attempt = 0) {
  return fmt::format("ff:attempt:{}:{}:{}:summary", tag, E, attempt);
}

// As programs of the seeds call it. The lease is number `attempt + 1`.
Call append(const std::string& payload = "hello", int attempt = 0) {
  return {"ff_append_frame",
          {exec_key("core"), stream_key("", attempt), stream_key(":meta", attempt)},
          {E, std::to_string(attempt), fmt::format("L{}", attempt + 1), std::to_string(attempt + 1),
           "delta", "", payload, "utf8", "", "worker", "10000", fmt::format("A{}", attempt + 1),
           "65536"}};
}
// As later programs do.
Call append_as(const std::string& mode, const std::string& payload = "x",
               const std::string& ttl_ms = "0", const std::string& patch_kind = "") {
  auto call = append(payload).with(11, "0");
  call.keys.push_back(summary_key());
  const Texts more{mode, patch_kind, ttl_ms, "64", "16384", "0.200000"};
  call.argv.insert(call.argv.end(), more.begin(), more.end());
  return call;
}
Call patch(const std::string& document) {
  return append_as("summary", document, "0", "json-merge-patch");
}
Call read_call(const std::string& from = "-", const std::string& to = "+",
               const std::string& count = "10000", int attempt = 0) {
  return {"ff_read_attempt_stream",
          {stream_key("", attempt), stream_key(":meta", attempt)},
          {from, to, count}};
}
Call read_summary() { return {"ff_read_summary", {summary_key()}, {}}; }

// Of our engine.
Call by_engine(const std::string& name, Texts argv) {
  argv.insert(argv.begin(), {"", ""});
  return {name, {exec_key("core")}, std::move(argv)};
}
Call append_own(int written, const Texts& payloads) {
  Texts argv{"L1", "1", "A1", "output", "buffered", "trim", "frames", std::to_string(written),
             "0", "16", "10000", "16777216", "262144"};
  for (const auto& payload : payloads) {
    argv.emplace_back("log\x1f");
    argv.push_back(payload);
  }
  return by_engine("ff_append_frames", std::move(argv));
}

struct Entry {
  std::string id;
  std::map<std::string, std::string> fields;
  auto number() const { return std::stoll(id.substr(id.find('-') + 1)); }
};
struct Frames {
  std::vector<Entry> entries;
  std::string closed_at;
  std::string closed_reason;

  std::string payloads() const {
    Texts texts;
    for (const auto& entry : entries) texts.push_back(entry.fields.at("payload"));
    return fmt::format("{}", fmt::join(texts, " "));
  }
  std::size_t count(const std::string& mode) const {
    return static_cast<std::size_t>(std::ranges::count_if(entries, [&](const Entry& entry) {
      const auto found = entry.fields.find("mode");
      return found != entry.fields.end() && found->second == mode;
    }));
  }
};

class Streams : public Suspensions {
 protected:
  Frames frames(const Call& call = read_call()) {
    Texts fcall{"FCALL", call.name, std::to_string(call.keys.size())};
    fcall.insert(fcall.end(), call.keys.begin(), call.keys.end());
    fcall.insert(fcall.end(), call.argv.begin(), call.argv.end());
    auto reply = command(fcall);
    auto& parts = *reply.as_array();
    Frames found;
    EXPECT_EQ(*parts.at(1).as_text(), "OK");
    for (auto& each : *parts.at(2).as_array()) {
      auto& entry = *each.as_array();
      auto& fields = *entry.at(1).as_array();
      auto& added = found.entries.emplace_back(Entry{*entry.at(0).as_text(), {}});
      for (std::size_t i = 0; i + 1 < fields.size(); i += 2)
        added.fields[*fields.at(i).as_text()] = *fields.at(i + 1).as_text();
    }
    found.closed_at = *parts.at(3).as_text();
    found.closed_reason = *parts.at(4).as_text();
    return found;
  }

  std::string meta(const std::string& name, int attempt = 0) {
    return field(stream_key(":meta", attempt), name);
  }
  void append_many(const Call& call, int count) {
    for (int i = 0; i < count; ++i) ASSERT_TRUE(run(call).starts_with("1 OK"));
  }
  std::int64_t time_to_live(const std::string& key) { return *command({"PTTL", key}).as_int(); }

  // The closing reason of attempt 0's stream after `calls`.
  std::string closing_after(const std::vector<Call>& calls, int attempt = 0) {
    for (const auto& call : calls) {
      const auto reply = run(call);
      EXPECT_TRUE(reply.starts_with("1 ")) << call.name << ": " << reply;
    }
    const auto found = frames(read_call("-", "+", "10", attempt));
    EXPECT_EQ(found.closed_reason, meta("closed_reason", attempt)) << "meta says otherwise";
    EXPECT_EQ(found.closed_at.empty(), found.closed_reason.empty());
    return found.closed_reason;
  }
  void write_one() {
    bring_to("active");
    run(append());
  }
};

// ---- Appending ----------------------------------------------------------------------------------

TEST_F(Streams, FirstFrameMakesTheMetadata) {
  bring_to("active");
  const auto told = change(append());
  const auto key = "ff:stream:" + tag + ":<E>:0";
  EXPECT_TRUE(told.starts_with("1 OK t-0 1\n")) << told;
  EXPECT_NE(told.find(key + " 1=frame_type delta ts t payload hello encoding utf8 source worker "
                            "mode durable\n"),
            std::string::npos)
      << told;
  for (const std::string line :
       {"attempt_id=A1", "attempt_index=0", "closed_at=", "closed_reason=", "created_at=t",
        "durability_mode=durable_full", "execution_id=<E>", "frame_count=1", "has_durable_frame=1",
        "last_frame_at=t", "last_sequence=t-0", "retention_maxlen=10000", "stream_id=<E>:0",
        "total_bytes=5"})
    EXPECT_NE(told.find(key + ":meta " + line + "\n"), std::string::npos) << line << "\n" << told;
}

TEST_F(Streams, LaterFramesCount) {
  bring_to("active");
  EXPECT_EQ(run(append()), "1 OK X-0 1");
  EXPECT_EQ(run(append("more").with(11, "7").with(9, "corr").with(6, "client time")), "1 OK X-1 2");
  EXPECT_EQ(meta("frame_count"), "2");
  EXPECT_EQ(meta("total_bytes"), "9");
  EXPECT_EQ(meta("retention_maxlen"), "10000") << "that of the first frame";
  const auto found = frames();
  EXPECT_EQ(found.payloads(), "hello more");
  EXPECT_EQ(found.entries[1].id, meta("last_sequence"));
  EXPECT_EQ(found.entries[1].fields.at("correlation_id"), "corr");
  EXPECT_EQ(found.entries[1].fields.at("ts"), "client time");
  EXPECT_FALSE(found.entries[0].fields.contains("correlation_id"));
}

TEST_F(Streams, ShortAndLongCallsAreTaken) {
  bring_to("active");
  EXPECT_EQ(run(append().cut(5)), "1 OK X-0 1");
  const auto fields = frames().entries.at(0).fields;
  EXPECT_EQ(fields.at("payload") + fields.at("encoding") + fields.at("source"), "utf8worker");
  EXPECT_EQ(run(append_as("")), "1 OK X-1 2 \"\"");
  EXPECT_EQ(run(append_as("strange")), "1 OK X-2 3 \"\"");
  EXPECT_EQ(frames().entries.at(2).fields.at("mode"), "strange");
}

TEST_F(Streams, BytesAreUntouched) {
  bring_to("active");
  const std::string bytes("\0\xff\xfe\r\n\x1f\x1d end", 11);
  run(append(bytes));
  EXPECT_EQ(frames().payloads(), bytes);
}

TEST_F(Streams, EntriesAreThoseThatAClientTails) {
  bring_to("active");
  run(append("a"));
  auto reply = command({"XREAD", "COUNT", "9", "STREAMS", stream_key(), "0-0"});
  auto& entries = *(*(*reply.as_array())[0].as_array())[1].as_array();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(*(*entries[0].as_array())[0].as_text(), meta("last_sequence"));
}

TEST_F(Streams, OnlyTheHolderOfTheLeaseAppends) {
  bring_to("none");
  expect_refused(append(), "0 stream_closed execution_not_found");
  expect_refused(append(std::string(65'537, 'x')), "0 retention_limit_exceeded payload_too_large");
  for (const std::string state : {"waiting", "delayed", "completed", "paused", "retrying"}) {
    bring_to(state);
    expect_refused(append(), "0 stream_closed execution_not_active");
  }
  bring_to("revoked");
  expect_refused(append(), "0 stale_owner_cannot_append lease_revoked");
  for (const std::string state : {"expired", "overdue"}) {
    bring_to(state);
    expect_refused(append(), "0 stale_owner_cannot_append lease_expired");
  }
  EXPECT_EQ(core("ownership_state"), "leased") << "it does not mark an expired lease";
  bring_to("active");
  for (const std::size_t wrong : {2U, 3U, 4U})
    expect_refused(append().with(wrong, "9"), "0 stale_owner_cannot_append stale_lease");
  EXPECT_EQ(run(append().with(12, "A9")), "1 OK X-0 1") << "the attempt's id is only kept";
}

TEST_F(Streams, ChecksComeInTheContractsOrder) {
  bring_to("waiting");
  expect_refused(append(std::string(9, 'x')).with(13, "8"),
                 "0 retention_limit_exceeded payload_too_large");
  expect_refused(append().with(11, "-1"), "0 stream_closed execution_not_active");
  bring_to("active");
  EXPECT_EQ(run(append(std::string(8, 'x')).with(13, "8")), "1 OK X-0 1") << "as long as allowed";
  command({"HSET", stream_key(":meta"), "closed_at", "1"});
  expect_refused(append(), "0 stream_closed");
  expect_refused(patch("x"), "0 stream_closed");
  expect_refused(append().with(2, "1"), "0 stale_owner_cannot_append stale_lease");
}

TEST_F(Streams, NumbersThatAreNoneWriteNothing) {
  bring_to("active");
  for (const std::string bad : {"", "x", "nan"})
    expect_refused(append().with(13, bad),
                   "0 invalid_input max_payload_bytes must be a number, got: " +
                       (bad.empty() ? std::string() : bad));
  for (const std::string bad : {"", "-1", "1.5", "1e400"})
    EXPECT_TRUE(run(append().with(11, bad)).starts_with("0 invalid_input retention_maxlen must be"))
        << bad;
  EXPECT_TRUE(run(append_as("best_effort", "x", "")).starts_with("0 invalid_input ttl_ms"));
  EXPECT_TRUE(run(append_as("best_effort", "x", "-5")).starts_with("0 invalid_input ttl_ms"));
  EXPECT_FALSE(store().contains("ff:stream:" + tag + ":<E>:0"));
  EXPECT_FALSE(store().contains("ff:stream:" + tag + ":<E>:0:meta"));
  command({"HSET", exec_key("core"), "lease_expires_at", ""});
  expect_refused(append(), "0 stale_owner_cannot_append lease_expired");
}

TEST_F(Streams, IdsGrowAlthoughTheClockGoesBack) {
  bring_to("active");
  run(append("a"));
  command({"HSET", stream_key(":meta"), "last_sequence", far_future + "-7"});
  EXPECT_EQ(run(append("b")), "1 OK 4000000000001-1 2");
  EXPECT_EQ(run(append("c")), "1 OK 4000000000001-2 3");
  EXPECT_EQ(frames().payloads(), "a b c");
}

TEST_F(Streams, IdsOfBothGrowAlthoughTheClockGoesBack) {
  bring_to("active");
  run(append_own(0, {"own 0"}));
  auto state = field(exec_key("streams"), "output");
  std::size_t last_at = 0;  // the tenth part
  for (int part = 0; part < 9; ++part) last_at = state.find('\x1f', last_at) + 1;
  state.replace(last_at, state.find('\x1f', last_at) - last_at, far_future);
  command({"HSET", exec_key("streams"), "output", state});
  EXPECT_EQ(run(append("theirs 1")), "1 OK 4000000000000-1 1");
  run(append_own(2, {"own 2"}));
  EXPECT_EQ(frames().payloads(), "own 0 theirs 1 own 2");
  EXPECT_EQ(frames().entries.at(2).id, "4000000000000-2");
}

// ---- Retention ----------------------------------------------------------------------------------

TEST_F(Streams, DurableFramesAreTrimmedExactlyIfToldSo) {
  bring_to("active");
  append_many(append().with(11, "3"), 5);
  EXPECT_EQ(frames().entries.size(), 3u);
  EXPECT_EQ(frames().entries[0].number(), 2);
  EXPECT_EQ(meta("frame_count"), "5");
}

TEST_F(Streams, SummariesKeepAboutTheLastPatches) {
  bring_to("active");
  append_many(patch("{}"), 300);
  const auto kept = frames().entries.size();
  EXPECT_GE(kept, 64u);
  EXPECT_LE(kept, 164u);
}

TEST_F(Streams, BestEffortKeepsAboutTwiceItsTimeToLive) {
  bring_to("active");
  run(append_as("best_effort", "x", "10000"));
  EXPECT_EQ(meta("ema_rate_hz"), "3.2");
  EXPECT_EQ(meta("maxlen_applied_last"), "64");
  EXPECT_EQ(frames().entries.at(0).fields.at("ttl_ms"), "10000");
  command({"HSET", stream_key(":meta"), "last_append_ts_ms", std::to_string(now() + 1000)});
  run(append_as("best_effort", "x", "10000"));
  EXPECT_EQ(meta("ema_rate_hz"), "202.56");
  EXPECT_EQ(meta("maxlen_applied_last"), "4052");
  command({"HSET", stream_key(":meta"), "ema_rate_hz", "99999"});
  run(append_as("best_effort", "x", "10000").with(17, "-3").with(18, "100").with(19, "7"));
  EXPECT_EQ(meta("maxlen_applied_last"), "100") << "the ceiling";
}

TEST_F(Streams, BestEffortExpiresUnlessThereIsMore) {
  bring_to("active");
  run(append_as("best_effort", "x", "10000"));
  EXPECT_GT(time_to_live(stream_key()), 10'000);
  EXPECT_LE(time_to_live(stream_key()), 20'000);
  EXPECT_EQ(time_to_live(stream_key(":meta")), -1);
  run(append());
  EXPECT_EQ(time_to_live(stream_key()), -1);
  run(append_as("best_effort", "x", "10000"));
  EXPECT_EQ(time_to_live(stream_key()), -1);
}

TEST_F(Streams, ModesTrimOnlyTheirOwnFrames) {
  bring_to("active");
  append_many(append_as("durable", "d"), 250);
  append_many(patch(R"({"a":1})"), 150);
  append_many(append_as("best_effort", "b", "1"), 150);
  const auto found = frames();
  EXPECT_EQ(found.count("durable"), 250u);
  EXPECT_EQ(found.count("summary"), 64u);
  EXPECT_GE(found.count("best_effort"), 64u);
  EXPECT_EQ(found.entries.size(), *command({"XLEN", stream_key()}).as_int());
  run(append("last").with(11, "5"));
  EXPECT_EQ(frames().entries.size(), 5u) << "as the contract demands";
  append_many(patch(R"({"a":2})"), 3);
  EXPECT_EQ(frames().entries.size(), 8u);
}

// ---- Summaries ----------------------------------------------------------------------------------

class Summaries : public Streams {
 protected:
  std::string merged(const std::string& document, const std::string& with) {
    bring_to("active");
    if (document != "{}") command({"HSET", summary_key(), "document", document, "version", "1"});
    const auto reply = run(patch(with));
    return reply.starts_with("1 OK") ? field(summary_key(), "document") : reply;
  }
};

TEST_F(Summaries, CountTheirVersions) {
  bring_to("active");
  EXPECT_EQ(run(read_summary()), "1 OK \"\" 0 \"\" 0 0");
  EXPECT_EQ(run(patch(R"({"a":1})")), "1 OK X-0 1 1");
  EXPECT_EQ(run(append_as("summary", R"({"b":{"c":2}})")), "1 OK X-1 2 2");
  EXPECT_EQ(run(read_summary()), R"(1 OK {"a":1,"b":{"c":2}} 2 json-merge-patch X X)");
  EXPECT_EQ(frames().entries.at(1).fields.at("summary_version"), "2");
  EXPECT_EQ(meta("has_durable_frame"), "1");
}

TEST_F(Summaries, AreMergedExactly) {
  struct Row {
    std::string document, with, result;
  };
  const std::vector<Row> rows{
      {R"({"a":{"b":1}})", R"({"a":{}})", R"({"a":{"b":1}})"},
      {R"({"a":[1,2]})", R"({"a":[]})", R"({"a":[]})"},
      {R"({"a":[]})", R"({"b":1})", R"({"a":[],"b":1})"},
      {R"({"a":1})", R"({"a":{"x":null}})", R"({"a":{}})"},
      {R"({"a":1,"b":2})", R"({"a":null})", R"({"b":2})"},
      {"{}", R"({"a":["__ff_null__"]})", R"({"a":[null]})"},
      {"{}", R"({"a":["__ff_null__","__ff_null__"],"b":"__ff_null__"})",
       R"({"a":[null,null],"b":null})"},
      {"{}", R"({"__ff_null__":1,"a":"x __ff_null__","b":"\"__ff_null__"})",
       R"({"__ff_null__":1,"a":"x __ff_null__","b":"\"__ff_null__"})"},
      {"{}", R"({"a":"__ff_null_\u005f"})", R"({"a":"__ff_null_\u005f"})"},
      {"{}", R"({"n":123456789012345678})", R"({"n":123456789012345678})"},
      {"{}", R"({"n":3.141592653589793})", R"({"n":3.141592653589793})"},
      {"{}", R"({"i":100000000000000,"u":"a/b é"})", R"({"i":100000000000000,"u":"a/b é"})"},
      {"{}", "[]", "{}"},
      {"[1,2]", R"({"a":1})", R"({"a":1})"},
      {"5", R"({"a":1})", R"({"a":1})"}};
  for (const auto& row : rows)
    EXPECT_EQ(merged(row.document, row.with), row.result) << row.document << " + " << row.with;
}

TEST_F(Summaries, RefuseWhatIsNoPatch) {
  bring_to("active");
  auto without_key = patch("{}");
  without_key.keys.pop_back();
  expect_refused(without_key, "0 invalid_input summary mode requires stream_summary key");
  expect_refused(append_as("summary", "{}", "0", "json-patch"),
                 "0 invalid_input unsupported patch_kind");
  for (const std::string bad :
       {"", "{", "x", R"({"a":NaN})", R"({"a":Infinity})", R"({"a":0x10})", R"({"a":01})",
        R"({"a":1.})", "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}", R"({"a":1}})", R"({a:1})"})
    expect_refused(patch(bad), "0 invalid_input patch payload is not valid JSON");
  for (const std::string bad : {"[1]", "5", "null", R"("{}")", "true"})
    expect_refused(patch(bad), "0 invalid_input patch must be a JSON object");
  const auto nested = [](int depth) {
    std::string text = "1";
    for (int i = 0; i < depth; ++i) text = R"({"a":)" + text + "}";
    return text;
  };
  EXPECT_EQ(run(patch(nested(17))), "1 OK X-0 1 1");
  expect_refused(patch(nested(18)), "0 invalid_input patch_depth_exceeded");
  command({"HSET", summary_key(), "document", "{oops"});
  expect_refused(patch(nested(18)), "0 corruption stored summary document not decodeable");
}

TEST_F(Summaries, StayBelowTheirLimit) {
  bring_to("active");
  const std::string part(60'000, 'x');
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(run(patch(fmt::format(R"({{"k{}":"{}"}})", i, part))),
              fmt::format("1 OK X-{} {} {}", i, i + 1, i + 1));
  expect_refused(patch(R"({"k4":")" + part + R"("})"),
                 "0 retention_limit_exceeded summary_too_large");
  EXPECT_EQ(run(patch(R"({"k0":null,"k4":")" + part + R"("})")), "1 OK X-4 5 5");
}

// ---- Closing ------------------------------------------------------------------------------------

TEST_F(Streams, AreClosedHoweverTheAttemptEnds) {
  const auto retried = R"({"max_retries":2})";
  write_one();
  EXPECT_EQ(closing_after({complete()}), "attempt_success");
  write_one();
  EXPECT_EQ(closing_after({fail()}), "attempt_failure");
  write_one();
  EXPECT_EQ(closing_after({fail(1, retried)}), "attempt_failure");
  write_one();
  EXPECT_EQ(closing_after({cancel()}), "attempt_cancelled");
  write_one();
  EXPECT_EQ(closing_after({expire("execution_deadline")}), "expired");
  write_one();
  EXPECT_EQ(closing_after({expire("attempt_timeout")}), "expired");
  write_one();
  EXPECT_EQ(closing_after({revoke()}), "lease_revoked");
  write_one();
  rewind_lease();
  EXPECT_EQ(closing_after({mark_expired()}), "lease_expired");
  EXPECT_EQ(closing_after({issue_reclaim_grant(), reclaim()}), "reclaimed");
  write_one();
  rewind_lease();
  EXPECT_EQ(run(complete()), "0 lease_expired");
  EXPECT_EQ(closing_after({}), "lease_expired") << "noticed by a call";
}

TEST_F(Streams, AreClosedWhenASuspensionEndsTheAttempt) {
  activate();
  run(append());
  run(suspend());
  EXPECT_EQ(closing_after({}), "") << "the attempt goes on";
  rewind("suspension_timeout_at");
  command({"HSET", exec_key("suspension:current"), "timeout_at", std::to_string(now() - 1)});
  const auto expired = run(expire_suspension());
  EXPECT_EQ(closing_after({}), "suspension_timeout") << expired;
  activate();
  run(append());
  run(suspend());
  EXPECT_EQ(closing_after({cancel()}), "attempt_cancelled");
}

// As above, but our engine ends what the contract's programs began.
TEST_F(Streams, AreClosedByOurEngineToo) {
  const auto closed_by = [&](const Call& call) {
    write_one();
    return closing_after({call});
  };
  EXPECT_EQ(closed_by(by_engine("ff_complete", {"L1", "1", "A1", "0", "", ""})), "attempt_success");
  EXPECT_EQ(closed_by(by_engine("ff_fail", {"L1", "1", "A1", "why", "transient"})),
            "attempt_failure");
  EXPECT_EQ(closed_by(by_engine("ff_cancel", {"enough"})), "attempt_cancelled");
  EXPECT_EQ(closed_by(by_engine("ff_revoke", {"", "why"})), "lease_revoked");
  const auto fired = [&](const std::string& timer, const std::string& field) {
    write_one();
    if (core(field).empty()) command({"HSET", exec_key("core"), field, "1"});
    rewind(field);
    return closing_after({by_engine("ff_fire_timer", {timer})});
  };
  EXPECT_EQ(fired("lease_expiry", "lease_expires_at"), "lease_expired");
  EXPECT_EQ(closing_after({by_engine("ff_lease", {"ready", "w9", "", "L2", "A2", "30000"})}),
            "reclaimed");
  EXPECT_EQ(fired("attempt_timeout", "attempt_deadline_at"), "expired");
  EXPECT_EQ(fired("execution_deadline", "deadline"), "expired");
}

TEST_F(Streams, UnwrittenOnesAreClosedWithTheirAttempt) {
  bring_to("active");
  EXPECT_EQ(frames().closed_reason, "");
  run(fail(1, R"({"max_retries":2})"));
  EXPECT_EQ(frames().closed_reason, "attempt_failure");
  EXPECT_EQ(frames().closed_at, attempt("0", "ended_at"));
  EXPECT_EQ(frames(read_call("-", "+", "1", 1)).closed_reason, "") << "the next attempt is to come";
  run(cancel());
  EXPECT_EQ(frames(read_call("-", "+", "1", 1)).closed_reason, "attempt_cancelled") << "it is not";
  EXPECT_FALSE(store().contains("ff:stream:" + tag + ":<E>:0:meta"));
  bring_to("none");
  EXPECT_EQ(frames().closed_reason, "") << "any id reads as open";
}

TEST_F(Streams, BelongToOneAttempt) {
  write_one();
  run(fail(1, R"({"max_retries":2})"));
  rewind_delay();
  run(promote());
  run(grant_and_claim(2));
  EXPECT_EQ(run(append("again")), "0 stale_owner_cannot_append stale_lease");
  EXPECT_EQ(run(append("again", 1)), "1 OK X-2 1") << "number 1 tells that an attempt began";
  EXPECT_EQ(frames().payloads(), "hello");
  EXPECT_EQ(frames(read_call("-", "+", "10", 1)).payloads(), "again");
  bring_to("active");
  run(append("before"));
  run(delay());
  rewind_delay();
  run(promote());
  run(issue_claim_grant());
  run(claim_resumed());
  EXPECT_EQ(run(append("after").with(3, "L2").with(4, "2")), "1 OK X-1 2") << "the same attempt";
}

// ---- Reading ------------------------------------------------------------------------------------

TEST_F(Streams, ReadingChecksItsArguments) {
  bring_to("none");
  for (const std::string bad : {"", "0", "-1", "x", "0.5"})
    expect_refused(read_call("-", "+", bad), "0 invalid_input count_limit must be >= 1");
  expect_refused(read_call().cut(2), "0 invalid_input count_limit must be >= 1");
  expect_refused(read_call("-", "+", "10001"), "0 invalid_input count_limit_exceeds_hard_cap");
  expect_refused(read_call("-", "+", "1.5"),
                 "0 invalid_input count_limit must be a whole number, got: 1.5");
  for (const std::string bad : {"x", "1-", "-1", "1-2-3", "$", "99999999999999999999"})
    expect_refused(read_call(bad),
                   "0 invalid_input a stream id must be -, +, <ms> or <ms>-<seq>, got: " + bad);
  EXPECT_TRUE(frames().entries.empty());
}

TEST_F(Streams, AreReadFromPlaceToPlace) {
  bring_to("active");
  for (const std::string payload : {"a", "b", "c", "d"}) run(append(payload));
  const auto all = frames().entries;
  EXPECT_EQ(frames(read_call("-", "+", "2")).payloads(), "a b");
  EXPECT_EQ(frames(read_call(all[1].id, all[2].id)).payloads(), "b c");
  EXPECT_EQ(frames(read_call("(" + all[1].id, "(" + all[3].id)).payloads(), "c");
  EXPECT_EQ(
      frames(read_call("0", all[0].id.substr(0, all[0].id.find('-')))).payloads().substr(0, 1),
      "a");
  EXPECT_EQ(frames(read_call("18446744073709551615-18446744073709551615")).payloads(), "");
}

TEST_F(Streams, PagesWithoutBestEffortAreFull) {
  bring_to("active");
  run(append("a"));
  append_many(append_as("best_effort", "x", "1"), 5);
  run(append("b"));
  auto call = read_call("-", "+", "2");
  EXPECT_EQ(frames(call).payloads(), "a x");
  call.argv.emplace_back("exclude_best_effort");
  EXPECT_EQ(frames(call).payloads(), "a b");
  call.argv.back() = "something";
  EXPECT_EQ(frames(call).payloads(), "a x");
}

// ---- One stream, two views ----------------------------------------------------------------------

TEST_F(Streams, FramesOfOurEngineAreAmongThem) {
  bring_to("active");
  const std::string binary("\xff\0", 2);
  run(append_own(0, {"own 0", binary}));
  run(append("theirs 2"));
  EXPECT_TRUE(run(append_own(3, {"own 3"})).starts_with("1 OK"));
  run(append("theirs 4"));
  const auto found = frames();
  EXPECT_EQ(found.payloads(), "own 0 " + binary + " theirs 2 own 3 theirs 4");
  EXPECT_EQ(found.entries[0].fields.at("frame_type"), "log");
  EXPECT_EQ(found.entries[0].fields.at("encoding"), "utf8");
  EXPECT_EQ(found.entries[1].fields.at("encoding"), "binary");
  for (std::size_t i = 0; i < found.entries.size(); ++i) {
    const auto& id = found.entries[i].id;
    EXPECT_EQ(found.entries[i].number(), static_cast<long long>(i));
    const auto from_here = frames(read_call(id, "+", "2")).entries;
    ASSERT_FALSE(from_here.empty());
    EXPECT_EQ(from_here[0].id, id);
    EXPECT_EQ(from_here.size(), std::min<std::size_t>(2, found.entries.size() - i));
    EXPECT_EQ(frames(read_call("-", "(" + id)).entries.size(), i);
  }
  EXPECT_EQ(*command({"XLEN", stream_key()}).as_int(), 2) << "nothing is written twice";
}

TEST_F(Streams, PagesOfBothHaveNoHoles) {
  bring_to("active");
  for (int i = 0; i < 5; ++i) run(append("gone"));
  run(append_own(5, {"own 5", "own 6"}));
  run(append("theirs 7").with(11, "1"));
  run(append_own(8, {"own 8"}));
  run(append("theirs 9"));
  run(append_own(10, {"own 10", "own 11"}));
  const std::string all = "own 5 own 6 theirs 7 own 8 theirs 9 own 10 own 11";
  for (const std::string count : {"1", "2", "3", "4", "10"}) {
    std::string pages;
    std::string from = "-";
    while (true) {
      const auto page = frames(read_call(from, "+", count));
      if (page.entries.empty()) break;
      pages += (pages.empty() ? "" : " ") + page.payloads();
      from = "(" + page.entries.back().id;
    }
    EXPECT_EQ(pages, all) << count;
  }
}

TEST_F(Streams, OurEngineReadsTheFramesOfOthers) {
  const auto shown = [&](int from = 0) {
    auto reply = command({"FCALL", "ff_read_frames", "1", exec_key("core"), "", "output",
                          std::to_string(from), "100", "1000000"});
    auto& parts = *reply.as_array();
    Texts texts;
    for (std::size_t i = 4; i < parts.size(); ++i) {
      auto& fields = *(*parts[i].as_array())[1].as_array();
      auto text = *(*parts[i].as_array())[0].as_text() + ":";
      for (std::size_t j = 3; j < fields.size(); j += 2) text += *fields[j].as_text();
      texts.push_back(text);
    }
    return fmt::format("{}", fmt::join(texts, " "));
  };
  bring_to("active");
  run(append("a"));
  run(append("b"));
  EXPECT_EQ(shown(), "1-0:a 2-0:b");
  EXPECT_EQ(shown(1), "2-0:b");
  run(append("c").with(11, "1"));
  EXPECT_EQ(shown(), "1-0: 2-0: 3-0:c") << "trimmed frames have no bytes";
  run(fail(1, R"({"max_retries":2})"));
  rewind_delay();
  run(promote());
  run(grant_and_claim(2));
  run(append("second", 1));
  EXPECT_EQ(shown(3), "5-0:second") << "frame 3 tells that an attempt began";
}

// Numbers that readers may have seen under another run of the server are left out.
TEST_F(Streams, FramesBeforeACrashOfTheServerAreKept) {
  const auto streams = exec_key("streams");
  const auto end_of = [&] {
    const auto ids = command({"XREVRANGE", exec_key("frames:output"), "+", "-", "COUNT", "1"});
    return std::stoll(*(*(*ids.as_array())[0].as_array())[0].as_text());
  };
  bring_to("active");
  run(append("a"));
  run(append_own(1, {"b"}));
  auto known = *command({"HGET", streams, "output"}).as_text();
  const auto writer = known.rfind('\x1f');
  known.replace(known.rfind('\x1f', writer - 1) + 1, 12, "aaaaaaaaaaaa");
  command({"HSET", streams, "output", known});
  run(fail(1, R"({"max_retries":2})"));
  rewind_delay();
  run(promote());
  run(grant_and_claim(2));
  run(append("c", 1));
  EXPECT_GT(end_of(), 1'000'000) << "no frame gets a number that was seen before";
  run(append("d", 1));
  EXPECT_EQ(*command({"XLEN", exec_key("frames:output")}).as_int(), 4);
}

TEST_F(Streams, APageEndsWithItsBytes) {
  bring_to("active");
  for (int i = 0; i < 5; ++i)
    run(append_own(i * 2, {std::string(60'000, 'x'), std::string(60'000, 'y')}));
  const auto page = command({"FCALL", "ff_read_attempt_frames", "1", exec_key("core"), "", "0", "0", "0",
                             far_future, "0", "1000", "100000"});
  EXPECT_EQ(page.as_array()->size(), 4u + 2u) << "closed_at, closed_reason, and two frames";
}

TEST_F(Streams, LeaveNothingBehind) {
  bring_to("active");
  run(append("a"));
  run(patch("{}"));
  run(append_as("best_effort", "b", "5000"));
  run(append_own(3, {"own"}));
  run(complete());
  command({"HSET", exec_key("core"), "completed_at", "1"});
  EXPECT_TRUE(run(by_engine("ff_remove", {})).find(" 1 ") != std::string::npos);
  for (const auto& [key, fields] : store()) EXPECT_EQ(key.find("<E>"), std::string::npos) << key;
}

// An engine of ours on the same store.
class StreamsOfBoth : public Streams {
 protected:
  StreamsOfBoth() {
    bring_to("active");
    auto store = must(valkey_store::open({.client = client_options(), .sweep = false}));
    engine_ = std::make_unique<LocalEngine>(std::move(store), LocalEngineOptions{.scan = false});
    await("the engine listens", [this] {
      const auto reply = command({"PUBSUB", "SHARDCHANNELS", "ff:events:" + tag});
      return !reply.as_array()->empty();
    });
  }
  // Far longer than a test may take: whoever is not woken fails it.
  template <class Op>
  typename Op::Reply woken_by(Op operation, const Call& call) {
    operation.wait = std::chrono::seconds{30};
    auto waiting = test::start(*engine_, std::move(operation));
    EXPECT_EQ(waiting.wait_for(Millis{20}), std::future_status::timeout);
    run(call);
    EXPECT_EQ(waiting.wait_for(std::chrono::seconds{15}), std::future_status::ready) << call.name;
    return must(waiting.get());
  }

  ExecutionId id_ = must(ExecutionId::parse(E));
  std::unique_ptr<LocalEngine> engine_;
};

TEST_F(StreamsOfBoth, FramesOfOthersWakeOurReaders) {
  const auto page =
      woken_by(ReadStream{.id = id_}, append("a b").with(5, "a type").with(9, "corr"));
  ASSERT_EQ(page.frames.size(), 1u);
  EXPECT_EQ(page.frames[0].bytes, "a b");
  EXPECT_EQ(page.frames[0].type.str(), "a_type");
  EXPECT_EQ(page.frames[0].correlation, "corr");
  const auto next = woken_by(
      TailAttemptStream{.id = id_, .after = must(FrameCursor::parse(meta("last_sequence")))},
      append(std::string("\xff\0", 2)));
  ASSERT_EQ(next.count, 1u);
  EXPECT_EQ(next.frames[0].id.str(), meta("last_sequence"));
  EXPECT_EQ(next.frames[0].fields.all.at(2).second, std::string("\xff\0", 2));
}

TEST_F(StreamsOfBoth, EndsByOthersWakeOurTails) {
  const auto retried = fail(1, R"({"max_retries":2})");
  EXPECT_EQ(woken_by(TailAttemptStream{.id = id_}, retried).closed_reason, "attempt_failure");
  EXPECT_EQ(woken_by(TailAttemptStream{.id = id_, .attempt = 1}, cancel()).closed_reason,
            "attempt_cancelled");
}

// However many frames are gone at the beginning, a call looks at a thousand of them.
TEST_F(Streams, APageOfOutputThatBeginsWithTrimmedFramesIsShort) {
  bring_to("active");
  constexpr std::size_t gone_max = 1'000;
  append_many(append(), gone_max + 500);
  command({"DEL", stream_key()});
  const auto entries = [&](std::size_t from) {
    auto reply = command({"FCALL", "ff_read_frames", "1", exec_key("core"), "", "output",
                          std::to_string(from), "100", "1000000"});
    return reply.as_array()->size() - 4;  // status, word, state and stream
  };
  EXPECT_EQ(entries(0), gone_max);
  EXPECT_EQ(entries(gone_max), 500u);
}

TEST_F(StreamsOfBoth, ReadersOfOutputPassTrimmedFramesPageByPage) {
  for (int i = 0; i < 1'500; ++i) run(append(std::to_string(i)).with(11, "10"));
  std::vector<std::string> seen;
  std::uint64_t from = 0;
  for (int pages = 0; pages < 4; ++pages) {
    const auto page = must(test::run(*engine_, ReadStream{.id = id_, .from = from}));
    EXPECT_GT(page.next, from);
    from = page.next;
    for (const auto& frame : page.frames) seen.push_back(frame.bytes);
    if (from == 1'500) break;
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(seen.front(), "1490");
}

TEST_F(StreamsOfBoth, ReadersOfOutputKnowOfTrimmedFrames) {
  for (const std::string payload : {"a", "b", "c"}) run(append(payload));
  run(append_own(3, {"own"}));
  run(append("d").with(11, "1"));
  const auto read = [&](std::uint64_t from) {
    return must(test::run(*engine_, ReadStream{.id = id_, .from = from}));
  };
  auto page = read(0);
  EXPECT_EQ(page.trimmed_to, 3u);
  ASSERT_EQ(page.frames.size(), 2u);
  EXPECT_EQ(page.frames[0].number, 3u);
  EXPECT_EQ(page.frames[1].bytes, "d");
  run(append("e").with(11, "1"));
  page = read(3);
  EXPECT_EQ(page.frames.size(), 1u) << "the page ends before the gap";
  EXPECT_EQ(page.next, 4u);
  page = read(page.next);
  EXPECT_EQ(page.trimmed_to, 5u);
  EXPECT_EQ(page.frames.at(0).bytes, "e");
  command({"DEL", stream_key()});
  page = read(4);
  EXPECT_EQ(page.trimmed_to, 6u);
  EXPECT_EQ(page.next, 6u);
}

TEST_F(Streams, CostNothingIfThereAreNone) {
  bring_to("active");
  EXPECT_EQ(core("has_attempt_streams") + core("has_streams"), "");
  run(append());
  EXPECT_EQ(core("has_attempt_streams") + core("has_streams"), "11");
}

}  // namespace
}  // namespace ff::test
