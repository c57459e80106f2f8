// Raw calls of the function library, as a program does that was written for the contract: with all the
// KEYS and ARGV that it names. What a call did is shown as the difference that it made in the store.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/valkey_server.hpp"

namespace ff::test {

using Texts = std::vector<std::string>;

struct Call {
  std::string name;
  Texts keys;
  Texts argv;

  // The same with another argument; positions as the contract counts them, from 1.
  Call with(std::size_t position, std::string value) const;
  // Of another execution.
  Call of(const std::string& id) const;
  // With only so many arguments.
  Call cut(std::size_t count) const;
  Call key(std::size_t position, std::string value) const;
};

inline const std::string tag = "{fp:7}";
inline const std::string E = tag + ":11111111-1111-4111-8111-111111111111";
inline const std::string other_E = tag + ":22222222-2222-4222-8222-222222222222";
inline const std::string budget_id = "33333333-3333-4333-8333-333333333333";
inline const std::string budget = "ff:budget:{b:3}:" + budget_id;
inline const std::string quota_id = "44444444-4444-4444-8444-444444444444";
inline const std::string quota = "ff:quota:{q:4}:" + quota_id;
// Its partition is that of `tag`.
inline const std::string flow_id = "66666666-6666-4666-8666-000000000082";
inline const std::string far_future = "4000000000000";

// Another execution of the same partition.
std::string numbered(int number);

std::string exec_key(const std::string& what, const std::string& id = E);
std::string index_key(const std::string& what);
std::string lane_key(const std::string& what, const std::string& lane = "main");

// Calls that succeed in the right state: execution E in lane main, worker w1, instance w1-i1. Leases and
// attempts are named L1, A1 and so on.
Call create();
Call issue_claim_grant(const std::string& worker = "w1");
Call issue_reclaim_grant(const std::string& worker = "w1");
Call claim(int number = 1, const std::string& worker = "w1");
Call claim_resumed(int number = 2, const std::string& worker = "w1");
Call grant_and_claim(int number = 1, const std::string& worker = "w1");
Call reclaim(int number = 2, const std::string& worker = "w1");
// With the fence of that lease; the first one has epoch 1.
Call complete(int number = 1);
Call fail(int number = 1, const std::string& retry_policy = "");
Call delay(int number = 1, const std::string& until = far_future);
Call wait_for_children(int number = 1);
Call renew(int number = 1);
Call progress(int number = 1);
Call cancel(const std::string& source = "operator_override");
Call promote();
Call mark_expired();
Call revoke();
Call expire(const std::string& reason = "execution_deadline");
Call change_priority(const std::string& priority);
Call set_tags(Texts pairs);
Call replay();
Call block(const std::string& reason = "waiting_for_budget");
Call unblock();
Call register_worker();
Call heartbeat();

// key → field → value of everything that is stored. Names are shortened, so that tables of them can be
// read: `core`, `attempt:0`, `idx:lane:main:active`.
using Store = std::map<std::string, std::map<std::string, std::string>>;

class Contract : public testing::Test {
 protected:
  Contract();

  // The reply as one line: `1 OK <E> waiting`. An empty text is "", a time is X.
  std::string run(const Call& call);
  // The same with times as they are.
  Texts reply_of(const Call& call);
  // Changes made by the call, one line each: `core retry_count=1`, `core -delay_until`. The time of
  // the call and times before it are `t`, later ones `t+30000`. The reply comes first.
  std::string change(const Call& call);
  // Fails unless the reply is this one and, if it is a refusal, the store is as it was.
  void expect_refused(const Call& call, const std::string& reply);

  // Brings E, and nothing else, to a state: see `steps` in fixture.cpp.
  void bring_to(const std::string& state);

  // Lets what is set for E in the core and its index be over, one millisecond ago.
  void rewind(const std::string& field);
  void rewind_lease() { rewind("lease_expires_at"); }
  void rewind_delay() { rewind("delay_until"); }

  std::string core(const std::string& field, const std::string& id = E);
  std::string attempt(const std::string& index, const std::string& field);
  std::int64_t time_in_core(const std::string& field) { return std::stoll(core(field)); }
  std::int64_t now();
  Store store();
  valkey::Reply command(const Texts& command) { return server_.call(command); }
  std::uint16_t port() const { return server_.port(); }
  valkey::ClientOptions client_options() const { return server_.client_options(); }

 private:
  std::string read(const Texts& command);
  ValkeyServer& server_;
};

}  // namespace ff::test
