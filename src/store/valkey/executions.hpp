// Operations on one execution or one flow of a store on Valkey: each is one function call.
#pragma once

#include <atomic>
#include <memory>

#include "store/store.hpp"
#include "store/valkey/caches/local_copy.hpp"
#include "store/valkey/calls/functions.hpp"
#include "store/valkey/calls/sent_call.hpp"
#include "store/valkey/confirmations.hpp"

namespace ff::valkey_store {

class Executions {
 public:
  struct Parts {
    Client& client;
    Functions& functions;
    LocalCopy& copy;
    OwnEventFilter& own_events;
    Confirmations* confirmations;  // none: what the server answers counts as safe
  };
  explicit Executions(Parts parts) : parts_(parts) {}

  // An operation whose owner is an execution or a flow.
  void start(store::AnyCall& any);

  // Leases that claims asked for, of what they chose, and those that they got.
  struct Leases {
    std::uint64_t asked = 0;
    std::uint64_t got = 0;
  };
  Leases leases() const { return {.asked = leases_asked_, .got = leases_got_}; }

 private:
  // Properties of a command that determine how its answer updates the local copy.
  struct Traits {
    RefusalContext refusal;
    bool is_lease = false;
    bool in_background = false;  // one of many: while its node is down, the others go on without it
    bool publishes = true;       // an event, if it changes anything
    bool tells_timer = false;    // its answer ends with the execution's next timer
    bool tells_of_readiness =
        false;                  // its refusal means something for others who want the execution
    Version known_version = 0;  // of the execution when it was sent, if a refusal tells of that
    bool waits_for_disk = true;
  };
  // A command on its way.
  struct Sent {
    std::uint64_t number;
    Traits traits;
    Request request;
  };

  // The execution that it is about, or the one that stands for its flow.
  template <class Op>
  ExecutionId subject_of(const Op& operation) const;
  template <class Op>
  keys::Address address_of(const Op& operation) const;
  template <class Op>
  RefusalContext refusal_context_of(const Op& operation) const;

  template <class Command>
  Traits traits_of(const Command& command) const;
  template <class Command>
  Sent begin(store::Call<Command>& call);
  void send(Sent sent, std::shared_ptr<SentCall> call);
  void take_in(std::uint64_t number, const Traits& traits, Result<std::vector<Reply>> list,
               SentCall& call);

  template <class Command>
  void run(store::Call<Command>& call);
  void run(store::Call<core::Create>& call);
  void run(store::Call<core::CreateFlow>& call);
  void run(store::Call<core::LeaseGrant>& call);
  void run(store::Call<store::PutBack>& call);
  void run(store::Call<GetExecution>& call);
  void run(store::Call<GetPayload>& call);
  void run(store::Call<store::ReadResult>& call);
  void run(store::Call<GetAttempts>& call);
  void run(store::Call<GetLeaseHistory>& call);
  void run(store::Call<core::CheckLease>& call);
  void run(store::Call<core::HoldsToken>& call);
  void run(store::Call<core::FindSignal>& call);
  void run(store::Call<GetSuspension>& call);
  void run(store::Call<GetSignals>& call);
  void run(store::Call<GetStep>& call);
  void run(store::Call<ListSteps>& call);
  void run(store::Call<store::ReadFrames>& call);
  void run(store::Call<ListStreams>& call);
  void run(store::Call<store::ReadAttemptFrames>& call);
  void run(store::Call<core::ReadFlow>& call);
  void run(store::Call<GetInputs>& call);

  // Answers the call with what its own function answers.
  template <class Query>
  void ask(store::Call<Query>& call);
  // Answers the call with what `tell` makes of the execution.
  template <class Query, class Tell>
  void read(store::Call<Query>& call, std::vector<std::string> arguments, Tell tell);

  Parts parts_;
  std::atomic<std::uint64_t> leases_asked_ = 0;
  std::atomic<std::uint64_t> leases_got_ = 0;
};

}  // namespace ff::valkey_store
