// Calls of the contract's functions about suspensions, waitpoints and signals.
#pragma once

#include "tests/contract/fixture.hpp"

namespace ff::test {

inline const std::string W1 = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
inline const std::string W2 = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
inline const std::string S1 = "cccccccc-cccc-4ccc-8ccc-cccccccccccc";
inline const std::string any_signal = R"({"required_signal_names":[]})";

std::string waitpoint_key(const std::string& waitpoint, const std::string& what = "");
std::string signal_id(int number);

// A plain condition.
std::string condition(const Texts& names, const std::string& mode = "any",
                      const std::string& minimum = "1");
// A composite condition around a tree.
std::string composite(const std::string& tree);

// With the fence of that lease and a fresh waitpoint W1 of key k1; the seed form.
Call suspend(const std::string& condition = any_signal, int lease_number = 1);
// With the arguments of later programs, and additional waitpoints (id, key, …).
Call suspend_later(const std::string& condition, const Texts& extras = {},
                   const std::string& idempotency_key = "");
Call suspend_pending(const std::string& condition = any_signal);
Call resume(const std::string& delay_ms = "0");
Call create_pending(const std::string& waitpoint = W1, const std::string& key = "k1");
Call expire_suspension();
Call close_waitpoint(const std::string& waitpoint = W1, const std::string& reason = "");
// Signals without a token: Suspensions::signed_ adds it.
Call deliver(int number, const std::string& name, const std::string& waitpoint = W1);
Call buffer(int number, const std::string& name, const std::string& waitpoint = W1);

class Suspensions : public Contract {
 protected:
  // E is active, and the partition has a key ring.
  void activate();
  void install_ring();
  // E is suspended.
  void suspend_with(const std::string& condition);
  // E is suspended and comes to the next lease, whose number is given.
  void claim_again(int lease_number);

  std::string token(const std::string& waitpoint = W1);
  Call signed_(Call call);
  // The effect of a signal, or the whole reply if it is refused or a duplicate.
  std::string send(int number, const std::string& name, const std::string& waitpoint = W1);

  std::string field(const std::string& key, const std::string& name);
  std::string of_waitpoint(const std::string& name, const std::string& waitpoint = W1);
  std::string of_condition(const std::string& name, const std::string& waitpoint = W1);
  std::string of_suspension(const std::string& name);
};

}  // namespace ff::test
