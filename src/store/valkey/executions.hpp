// Operations on one execution or one flow of a store on Valkey: each is one function call.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <tuple>

#include "store/store.hpp"
#include "store/valkey/caches/local_copy.hpp"
#include "store/valkey/calls/functions.hpp"
#include "store/valkey/calls/joined_calls.hpp"
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

  class Joint;

  // An operation whose owner is an execution or a flow. With a joint, it may wait for others to be sent together with
  // them, by send().
  void start(store::AnyCall& any, Joint* joint);
  void send(Joint joint);

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
  // One that is sent together with others.
  struct Joined {
    JoinableCall part;
    keys::Address address;
    Traits traits;
    std::shared_ptr<SentCall> call;
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
  // The same, with what is known of the execution at this moment.
  template <class Command>
  Traits traits_now(const Command& command) const;
  template <class Command>
  Sent begin(store::Call<Command>& call);
  void send(Sent sent, std::shared_ptr<SentCall> call);
  // True if the call waits in the joint; `make` makes a SentCall of it.
  template <class Command, class Make>
  bool join(Joint* joint, store::Call<Command>& call, Make make);
  void send_joined(std::vector<Joined> joined);
  void receive(const Traits& traits, Result<std::vector<Reply>> list, const std::string& server_run,
               const std::shared_ptr<SentCall>& call);
  void put_back_if_lost(const Traits& traits, const Result<std::vector<Reply>>& list);
  // The answer to a call of this process is there, or will not come.
  void end_call(std::uint64_t number, OwnEventFilter::Told told);
  void note_unreachable(const Traits& traits, const Result<Reply>& reply);
  void take_in(const Traits& traits, Result<std::vector<Reply>> list, SentCall& call);

  template <class Command>
  void run(store::Call<Command>& call);
  void run(store::Call<core::CreateFlow>& call);
  void run(store::Call<core::Create>& call, Joint* joint);
  void run(store::Call<core::LeaseGrant>& call, Joint* joint);
  void run(store::Call<Complete>& call, Joint* joint);
  void send_payload(const ExecutionId& id, std::string payload);
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

// Commands that are sent together, in groups that one function call takes.
class Executions::Joint {
 public:
  using Group = std::vector<Joined>;

  // `slot` is that of Functions::slot_of_calls.
  void add(std::uint16_t slot, Joined joined);
  std::vector<Group> take() { return std::move(groups_); }

 private:
  // Function, slot and shared arguments.
  using Key = std::tuple<std::string_view, std::uint16_t, std::vector<std::string>>;

  struct Open {
    std::size_t group;  // that the next one joins
    std::size_t bytes;
  };
  std::map<Key, Open> open_;
  std::vector<Group> groups_;
};

}  // namespace ff::valkey_store
