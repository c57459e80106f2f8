// Calls of the function library: at the node of a partition, or at all nodes.
#pragma once

#include <flowfabric/async.hpp>

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "store/valkey/background.hpp"
#include "store/valkey/caches/server_clock.hpp"
#include "store/valkey/calls/calls.hpp"
#include "store/valkey/client_names.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {

// The treatment of partitions that are moving to another node. Partitions of a node that is down
// are left out at once in both cases: each node's partitions stand for themselves.
enum class Moving : std::uint8_t {
  ask_again,  // a few times, then they are left out
  skip,       // whoever asks does so again soon
};

// A read-only function for many partitions.
struct Question {
  std::string function;
  std::vector<std::string> arguments = {};
  Moving moving = Moving::ask_again;
  // Whether the node that gave this answer is to be asked no further.
  std::function<bool(const std::vector<Reply>&)> is_enough = {};
};

// A node answers in slices, so that no call holds it long; each is an answer of its own.
struct Answers {
  std::vector<std::vector<Reply>> of_nodes = {};
  std::vector<keys::Partition> missing = {};  // partitions without an answer
};

bool serves(const valkey::Node& node, std::uint16_t slot);

class Functions {
 public:
  using Done = std::move_only_function<void(Result<Reply>)>;

  // All of them must outlive it.
  Functions(Background& background, Client& client, const ServerClock& clock,
            const ClientOptions& options)
      : background_(background), client_(client), clock_(clock), options_(options) {}

  void set_places(keys::Places places) { places_ = std::move(places); }
  const keys::Places& places() const { return places_; }
  const keys::Partition& place_of(const ExecutionId& id) const {
    return places_.executions[id.partition()];
  }
  PartitionIndex partition_count() const {
    return static_cast<PartitionIndex>(places_.executions.size());
  }
  std::vector<PartitionIndex> all_partitions() const;

  // Executions of places with the same slot can be changed in one call; without a cluster all have one.
  std::uint16_t slot_of_calls(const keys::Partition& place) const {
    return options_.cluster ? place.slot : 0;
  }

  // The partitions of executions at the node that serves this one.
  std::vector<PartitionIndex> neighbours_of(PartitionIndex partition) const;

  // In a cluster the request fails at once while its node is down; the others go on without it. A single
  // server is waited for.
  Request unless_down(Request request) const;

  // Changes an execution, or what has this key in its partition.
  Request change(const ExecutionId& id, FunctionCall function, std::string origin) const;
  Request change(const keys::Address& address, FunctionCall function, std::string origin) const;
  // Changes several executions, which in a cluster have one slot.
  Request change(const std::vector<keys::Address>& addresses, FunctionCall function) const;
  // Reads an execution: ff_get.
  Request read(const ExecutionId& id, std::vector<std::string> arguments) const;
  // The arguments of a function at an address begin with the time.
  enum class Access : std::uint8_t { reads, writes };
  Request at(const keys::Address& address, FunctionCall function, Access access) const;
  // Of a partition as a whole.
  Request at_partition(PartitionIndex partition, FunctionCall function, Access access) const;

  // Sends it; if Valkey has lost the function library, loads it and sends it once more.
  void call(Request request, Done done);
  // The same for many, sent together; replies in the order of the requests.
  asio::awaitable<std::vector<Result<Reply>>> call_all(std::vector<Request> requests);
  // A function's answer, without the two parts that say that it worked.
  Async<std::vector<Reply>> list_from(Request request);

  // Asks each partition at its own node, all nodes at once, in as many short calls as it takes. Fails if no node
  // answers.
  Async<Answers> ask(Question question, std::vector<keys::Partition> places);
  Async<Answers> ask(Question question, const std::vector<PartitionIndex>& partitions);
  Async<Answers> ask(Question question);  // all partitions of executions

 private:
  // How many keys follow, and the keys: `key` and, in a cluster, one that never exists. While its slot
  // moves to another node, some of a partition's keys are here and some are there; with a key that is
  // missing the server says so (TRYAGAIN), instead of letting a function begin that it cannot finish.
  std::vector<std::string> with_keys(std::vector<std::string> command, std::string_view tag,
                                     std::string key) const;
  // The questions for one node.
  struct Share {
    valkey::NodeName node;
    std::vector<keys::Partition> places;
    std::string after = {};  // the queue of the first one behind which to go on
  };
  struct Shares {
    std::vector<Share> of_nodes;
    std::vector<keys::Partition> unserved;
  };
  Shares shares_of(std::vector<keys::Partition> places) const;
  Request request_of(const Question& question, const Share& share) const;
  // One answer of a node, and its partitions that are to be asked yet.
  struct Slice {
    std::vector<Reply> parts;
    std::size_t places_left = 0;
    std::string after = {};  // of the first of them
    std::vector<std::string> moving;
  };
  static Result<Slice> read_slice(Result<Reply> reply, const Question& question);
  // Logs when a node stops answering questions, and when it answers again.
  void note_answer(const Share& share, const Error* failure);

  Background& background_;
  Client& client_;
  const ServerClock& clock_;
  const ClientOptions& options_;
  keys::Places places_;
  std::set<std::string> silent_nodes_;  // only on the background's thread
};

}  // namespace ff::valkey_store
