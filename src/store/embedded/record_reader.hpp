// From stored messages to executions.
#pragma once

#include <string>

#include "core/execution.hpp"
#include "records.pb.h"

namespace ff::embedded {

// Reads one record; remembers that something did not hold, so that the whole is refused at the end.
class RecordReader {
 public:
  bool ok() const { return ok_; }

  core::Execution execution(const ExecutionId& id, const proto::Execution& stored);
  core::Attempt attempt(const proto::Attempt& stored);
  Uuid uuid(const std::string& stored);

 private:
  template <class Text>
  Text text(const std::string& stored);
  template <class E>
  E named(std::uint32_t stored);

  Fence fence(const proto::Fence& stored);
  core::PastLease past_lease(const proto::PastLease& stored);
  core::AttemptEnd attempt_end(const proto::AttemptEnd& stored);
  RetryPolicy retry(const proto::RetryPolicy& stored);
  Policy policy(const proto::Policy& stored);
  core::State state(const proto::Execution& stored, const core::Execution& execution);
  core::State active(const proto::Execution::Active& stored, const core::Execution& execution);
  core::State granted(const proto::Execution::Granted& stored);
  core::State ended(const proto::Execution::Ended& stored);

  // Format 1 had no attempts; what is known of the newest one is put together.
  void upgrade(const proto::Execution& stored, core::Execution& execution);

  bool ok_ = true;
};

}  // namespace ff::embedded
