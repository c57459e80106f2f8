// From stored messages to what they stand for.
#pragma once

#include <string>
#include <string_view>

#include "core/execution/execution.hpp"
#include "records.pb.h"

namespace ff::embedded {

template <class Message>
bool parse(Message& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void write(const Policy& policy, proto::Policy& out);

// Reads one record; remembers that something did not hold, so that the whole is refused at the end.
class RecordReader {
 public:
  bool ok() const { return ok_; }

  core::Execution execution(const ExecutionId& id, const proto::Execution& stored);
  core::Attempt attempt(const proto::Attempt& stored);
  Policy policy(const proto::Policy& stored);
  ExecutionId execution_id(std::uint32_t partition, const std::string& uuid);
  Uuid uuid(const std::string& stored);
  template <class Text>
  Text text(const std::string& stored);
  template <class E>
  E named(std::uint32_t stored);

 protected:
  void refuse() { ok_ = false; }

 private:
  Fence fence(const proto::Fence& stored);
  core::PastLease past_lease(const proto::PastLease& stored);
  core::AttemptEnd attempt_end(const proto::AttemptEnd& stored);
  RetryPolicy retry(const proto::RetryPolicy& stored);
  core::State state(const proto::Execution& stored, const core::Execution& execution);
  core::State active(const proto::Execution::Active& stored, const core::Execution& execution);
  core::State granted(const proto::Execution::Granted& stored);
  core::State suspended(const proto::Execution::Suspended& stored);
  core::State ended(const proto::Execution::Ended& stored);
  core::State blocked(const proto::Execution::Blocked& stored);
  core::State waiting_children(const proto::Execution::WaitingChildren& stored);
  core::MapState map_state(const proto::Execution::Membership::Map& stored);
  core::Membership membership(const proto::Execution::Membership& stored);

  // Format 1 had no attempts; what is known of the newest one is put together.
  void upgrade(const proto::Execution& stored, core::Execution& execution);

  bool ok_ = true;
};

template <class Text>
Text RecordReader::text(const std::string& stored) {
  auto parsed = Text::parse(stored);
  if (!parsed) ok_ = false;
  return parsed ? *parsed : Text{};
}

template <class E>
E RecordReader::named(std::uint32_t stored) {
  if (stored >= Names<E>::values.size()) ok_ = false;
  return ok_ ? static_cast<E>(stored) : E{};
}

}  // namespace ff::embedded
