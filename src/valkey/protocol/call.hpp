// A request on its way to an answer.
#pragma once

#include <flowfabric/error.hpp>

#include <chrono>
#include <functional>
#include <string>

#include "valkey/protocol/reply.hpp"
#include "valkey/protocol/request.hpp"

namespace ff::valkey {

using Steady = std::chrono::steady_clock;
using Done = std::move_only_function<void(Result<Reply>)>;

struct Call {
  Request request;
  Done done;  // empty: nobody waits for the answer any more
  Steady::time_point deadline;
  Steady::time_point written_at = {};  // default: never
  bool asking = false;                 // ASKING goes before it, and its answer before this one's
  bool once = false;                   // the first trouble is its answer
  unsigned tries = 0;
  std::string trouble = {};  // why it has no answer yet

  bool was_written() const { return written_at != Steady::time_point{}; }

  // At most once.
  void answer(Result<Reply> result) {
    if (auto waiting = std::exchange(done, nullptr)) waiting(std::move(result));
  }
};

}  // namespace ff::valkey
