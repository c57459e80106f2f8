// Operations of a store from a test's own thread.
#pragma once

#include <future>
#include <memory>
#include <optional>

#include "store/store.hpp"

namespace ff::test {

// Runs an operation and waits for its reply. No coroutine is compiled for it.
template <class Op>
Result<typename Op::Reply> run(store::Store& store, Op operation) {
  Result<typename Op::Reply> reply = std::unexpected(Error{});
  const auto ended = std::make_shared<std::promise<void>>();  // outlives the call that fulfils it
  std::vector<store::AnyCall> calls;
  calls.push_back(
      store::Call<Op>{std::move(operation), [&reply, ended](Result<typename Op::Reply> given) {
                        reply = std::move(given);
                        ended->set_value();
                      }});
  store.start(std::move(calls));
  ended->get_future().wait();
  return reply;
}

}  // namespace ff::test
