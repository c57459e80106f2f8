#include "tests/contract/suspensions/suspension_fixture.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ff::test {
namespace {

const std::string ring = "ff:sec:" + tag + ":waitpoint_hmac";

std::string attempt_key() { return "ff:attempt:" + tag + ":" + E + ":0"; }

Texts signal_arguments(int number, const std::string& name, const std::string& waitpoint) {
  return {signal_id(number), E,  waitpoint,  name, "event", "user",  "ann", "hello", "json", "", "",
          "waitpoint",       "", "86400000", "0",  "1000",  "10000", ""};
}

}  // namespace

std::string waitpoint_key(const std::string& waitpoint, const std::string& what) {
  return "ff:wp:" + tag + ":" + waitpoint + what;
}

std::string signal_id(int number) { return fmt::format("dddddddd-dddd-4ddd-8ddd-{:012}", number); }

std::string condition(const Texts& names, const std::string& mode, const std::string& minimum) {
  Texts quoted;
  for (const auto& name : names) quoted.push_back('"' + name + '"');
  return fmt::format(
      R"({{"condition_type":"signal_set","required_signal_names":[{}],"signal_match_mode":"{}","minimum_signal_count":{}}})",
      fmt::join(quoted, ","), mode, minimum);
}

std::string composite(const std::string& tree) {
  return R"({"v":1,"composite":true,"tree":)" + tree + "}";
}

Call suspend(const std::string& condition, int lease_number) {
  const auto number = std::to_string(lease_number);
  return {
      "ff_suspend_execution",
      {exec_key("core"), attempt_key(), exec_key("lease:current"), exec_key("lease:history"),
       index_key("lease_expiry"), index_key("worker:w1-i1:leases"), exec_key("suspension:current"),
       waitpoint_key(W1), waitpoint_key(W1, ":signals"), index_key("suspension_timeout"),
       index_key("pending_waitpoint_expiry"), lane_key("active"), lane_key("suspended"),
       exec_key("waitpoints"), waitpoint_key(W1, ":condition"), index_key("attempt_timeout"), ring},
      {E, "0", "A1", "L" + number, number, S1, W1, "k1", "waiting_for_approval", "worker", "",
       condition, "{}", "", "", "fail", "1000"}};
}

Call suspend_later(const std::string& condition, const Texts& extras,
                   const std::string& idempotency_key) {
  auto call = suspend(condition);
  call.keys.push_back(idempotency_key.empty()
                          ? "ff:noop:" + tag
                          : "ff:dedup:suspend:" + tag + ":" + E + ":" + idempotency_key);
  for (std::size_t i = 0; i < extras.size(); i += 2)
    for (const auto* what : {"", ":signals", ":condition"})
      call.keys.push_back(waitpoint_key(extras[i], what));
  call.argv.push_back(idempotency_key);
  call.argv.emplace_back("60000");
  call.argv.push_back(std::to_string(extras.size() / 2));
  call.argv.insert(call.argv.end(), extras.begin(), extras.end());
  return call;
}

Call suspend_pending(const std::string& condition) { return suspend(condition).with(15, "1"); }

Call resume(const std::string& delay_ms) {
  return {"ff_resume_execution",
          {exec_key("core"), exec_key("suspension:current"), waitpoint_key(W1),
           waitpoint_key(W1, ":signals"), index_key("suspension_timeout"), lane_key("eligible"),
           lane_key("delayed"), lane_key("suspended")},
          {E, "operator", delay_ms}};
}

Call create_pending(const std::string& waitpoint, const std::string& key) {
  return {"ff_create_pending_waitpoint",
          {exec_key("core"), waitpoint_key(waitpoint), index_key("pending_waitpoint_expiry"), ring},
          {E, "0", waitpoint, key, far_future}};
}

Call expire_suspension() {
  return {"ff_expire_suspension",
          {exec_key("core"), exec_key("suspension:current"), waitpoint_key(W1),
           waitpoint_key(W1, ":condition"), attempt_key(), "ff:stream:" + tag + ":" + E + ":0:meta",
           index_key("suspension_timeout"), lane_key("suspended"), lane_key("terminal"),
           lane_key("eligible"), lane_key("delayed"), exec_key("lease:history")},
          {E}};
}

Call close_waitpoint(const std::string& waitpoint, const std::string& reason) {
  return {"ff_close_waitpoint",
          {exec_key("core"), waitpoint_key(waitpoint), index_key("pending_waitpoint_expiry")},
          {waitpoint, reason}};
}

Call deliver(int number, const std::string& name, const std::string& waitpoint) {
  const auto signal = "ff:signal:" + tag + ":" + signal_id(number);
  return {"ff_deliver_signal",
          {exec_key("core"), waitpoint_key(waitpoint, ":condition"),
           waitpoint_key(waitpoint, ":signals"), exec_key("signals"), signal, signal + ":payload",
           "ff:noop:" + tag, waitpoint_key(waitpoint), exec_key("suspension:current"),
           lane_key("eligible"), lane_key("suspended"), lane_key("delayed"),
           index_key("suspension_timeout"), ring},
          signal_arguments(number, name, waitpoint)};
}

Call buffer(int number, const std::string& name, const std::string& waitpoint) {
  const auto signal = "ff:signal:" + tag + ":" + signal_id(number);
  return {"ff_buffer_signal_for_pending_waitpoint",
          {exec_key("core"), waitpoint_key(waitpoint, ":condition"),
           waitpoint_key(waitpoint, ":signals"), exec_key("signals"), signal, signal + ":payload",
           "ff:noop:" + tag, waitpoint_key(waitpoint), ring},
          signal_arguments(number, name, waitpoint)};
}

void Suspensions::install_ring() {
  command({"HSET", ring, "current_kid", "k1", "secret:k1", std::string(64, '0')});
}

void Suspensions::activate() {
  bring_to("active");
  install_ring();
}

void Suspensions::suspend_with(const std::string& condition) {
  activate();
  const auto reply = run(suspend(condition));
  if (!reply.starts_with("1 OK")) throw std::runtime_error(reply);
}

void Suspensions::claim_again(int lease_number) {
  EXPECT_EQ(run(issue_claim_grant()), "1 OK <E>");
  EXPECT_TRUE(run(claim_resumed(lease_number)).starts_with("1 OK"));
}

std::string Suspensions::token(const std::string& waitpoint) {
  return field(waitpoint_key(waitpoint), "waitpoint_token");
}

Call Suspensions::signed_(Call call) {
  const auto waitpoint = call.argv.at(2);
  return call.with(18, token(waitpoint));
}

std::string Suspensions::send(int number, const std::string& name, const std::string& waitpoint) {
  const auto reply = reply_of(signed_(deliver(number, name, waitpoint)));
  if (reply.size() == 4 && reply[1] == "OK") return reply[3];
  return fmt::format("{}", fmt::join(reply, " "));
}

std::string Suspensions::field(const std::string& key, const std::string& name) {
  const auto reply = command({"HGET", key, name});
  return reply.as_text() ? *reply.as_text() : "";
}

std::string Suspensions::of_waitpoint(const std::string& name, const std::string& waitpoint) {
  return field(waitpoint_key(waitpoint), name);
}

std::string Suspensions::of_condition(const std::string& name, const std::string& waitpoint) {
  return field(waitpoint_key(waitpoint, ":condition"), name);
}

std::string Suspensions::of_suspension(const std::string& name) {
  return field(exec_key("suspension:current"), name);
}

}  // namespace ff::test
