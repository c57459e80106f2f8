// Calls that wait for Valkey's answer.
#pragma once

#include <utility>

#include "store/store.hpp"
#include "store/valkey/calls/calls.hpp"
#include "store/valkey/calls/resource_calls.hpp"
#include "store/valkey/confirmations.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {

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

  // Its request is on its way.
  virtual void on_sent() {}
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

// Finishes a call that worked once its change is safe: `run` of the server at `place` made it.
inline void finish_when_safe(Confirmations* confirmations, const keys::Partition& place,
                             const std::string& run, std::shared_ptr<SentCall> call) {
  if (!confirmations || !call->succeeded()) return call->finish();
  confirmations->add({place.slot, keys::probe(place.tag), run}, [call](Result<void> confirmed) {
    if (!confirmed) call->fail(std::move(confirmed.error()));
    call->finish();
  });
}

}  // namespace ff::valkey_store
