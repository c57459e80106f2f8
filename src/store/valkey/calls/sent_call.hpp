// Calls that wait for Valkey's answer.
#pragma once

#include <utility>

#include "store/store.hpp"
#include "store/valkey/calls/calls.hpp"
#include "store/valkey/calls/resource_calls.hpp"

namespace ff::valkey {

// A call whatever its operation, so that sending and receiving are compiled once.
class SentCall {
 public:
  virtual ~SentCall() = default;

  // Takes the reply from what the function answered.
  virtual void read(Answer& answer) = 0;
  virtual void fail(Error error) = 0;
  virtual bool succeeded() const = 0;

  // Answers the caller; the last thing that is done with it.
  virtual void finish() = 0;
};

template <class Op>
class SentCallOf : public SentCall {
 public:
  explicit SentCallOf(store::Call<Op> call) : call_(std::move(call)) {}

  void read(Answer& answer) override { reply_ = read_answer(call_.operation, answer); }
  void fail(Error error) override { reply_ = std::unexpected(std::move(error)); }
  bool succeeded() const override { return reply_.has_value(); }
  void finish() override { call_.done(std::move(reply_)); }

 protected:
  store::Call<Op> call_;
  Result<typename Op::Reply> reply_ = std::unexpected(Error{});
};

}  // namespace ff::valkey
