// Calls to the engine that a handler cannot go on without: their failures end it.
#pragma once

#include <string>
#include <utility>

#include "sdk/worker/reporting/lease_loss.hpp"
#include "sdk/worker/reporting/resend.hpp"
#include "sdk/worker/task_context.hpp"

namespace ff {

[[noreturn]] inline void fail_for_good(std::string reason) {
  throw TaskFailure({.reason = std::move(reason), .retryable = false});
}

// For errors that another attempt would meet again.
template <class T>
T or_fail(Result<T> result) {
  if (!result) fail_for_good(result.error().message);
  return std::move(*result);
}

template <class Op>
typename Op::Reply call(Task::Context& context, const Op& operation) {
  auto reply = resend(context.engine(), operation);
  if (reply) return std::move(*reply);
  if (const auto loss = lease_loss(reply.error())) {
    context.cancel(*loss);
    throw TaskCancelled(*context.cancelled());
  }
  if (reply.error().retryable()) throw Exception(std::move(reply.error()));
  fail_for_good(reply.error().message);
}

}  // namespace ff
