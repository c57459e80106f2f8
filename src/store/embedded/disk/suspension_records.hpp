// Waitpoints, suspensions, signals and steps as bytes on disk (proto/records.proto), and back. What does not
// hold when it is read is store_damaged.
#pragma once

#include <string>
#include <string_view>

#include "core/suspensions/suspension.hpp"

namespace ff::embedded {

// The error for a record that is missing or does not hold.
std::unexpected<Error> damaged_suspension(const ExecutionId& id);

std::string encode(const core::Waits& waits);
Result<core::Waits> decode_waits(const ExecutionId& id, std::string_view bytes);

std::string encode(const core::WaitDetails& details);
Result<core::WaitDetails> decode_details(const ExecutionId& id, std::string_view bytes);
// The details that a record of waits has in it, as those before format 7 do.
Result<core::WaitDetails> details_in_waits(const ExecutionId& id, std::string_view bytes);

std::string encode(const core::StoredSignal& signal);
Result<core::StoredSignal> decode_signal(const ExecutionId& id, std::uint32_t index,
                                         std::string_view bytes);

std::string encode(const core::KnownSignal& signal);
Result<core::KnownSignal> decode_known_signal(const ExecutionId& id, const SignalKey& key,
                                              std::string_view bytes);

std::string encode(const core::StoredStep& step);
Result<core::StoredStep> decode_step(const ExecutionId& id, std::string_view name,
                                     std::string_view bytes);

}  // namespace ff::embedded
