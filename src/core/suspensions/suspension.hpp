// The records of suspensions, signals and steps that belong to an execution.
#pragma once

#include <map>

#include "core/suspensions/condition.hpp"

namespace ff::core {

// The newest suspension of an execution, open or over.
struct Suspension {
  SuspensionId id;
  LeaseId lease_id;  // of the worker that suspended it
  LeaseEpoch lease_epoch{};
  std::uint32_t attempt_index = 0;
  SuspendReason reason{};
  TimePoint since;
  Condition condition = {};
  Tally tally = {};
  std::optional<TimePoint> timeout_at = {};
  TimeoutAction on_timeout{};
  bool escalated = false;
  Millis resume_delay{0};
  std::vector<WaitpointId> waitpoints = {};  // bound to it
  bool satisfied_at_once = false;  // by signals that had arrived before: it never suspended
  std::optional<TimePoint> closed_at = {};
  std::string close_reason = {};
  bool operator==(const Suspension&) const = default;
};

// The waits of an execution, beside its state: open waitpoints, the newest suspension with its waitpoints.
struct Waits {
  std::vector<WaitpointInfo> waitpoints = {};  // by time of creation; without their questions
  std::optional<Suspension> suspension = {};
  std::uint32_t first_uncounted = 0;  // signals before this index count only if they were passed over
  bool has_details = false;
  bool operator==(const Waits&) const = default;
};

// The large parts of an execution's waits, which signals do not change.
struct WaitDetails {
  std::string state = {};  // of the newest suspension, for the handler
  std::map<WaitpointId, Question> questions = {};
  std::vector<std::uint32_t> passed_over = {};  // indexes of signals that may count later
  bool operator==(const WaitDetails&) const = default;
};

struct StoredSignal {
  std::uint32_t index = 0;
  SignalId id;
  SignalName name;
  std::optional<WaitpointId> waitpoint = {};
  std::optional<WaitpointKey> waitpoint_key = {};
  SignalSource source = {};
  std::string category = {};
  std::string correlation_id = {};
  TimePoint accepted_at;
  SignalEffect effect{};
  std::optional<SuspensionId> counted_for = {};
  std::optional<ContentType> content_type = {};
  bool operator==(const StoredSignal&) const = default;
};

// A signal that is known by its idempotency key.
struct KnownSignal {
  SignalKey key;
  SignalId id;
  SignalEffect effect{};
  TimePoint until;  // forgotten from then on
  bool operator==(const KnownSignal&) const = default;
};

struct StoredStep {
  StepName name;
  TimePoint at;
  std::optional<ContentType> content_type = {};
  std::string result = {};
  bool operator==(const StoredStep&) const = default;
};

bool is_open(const WaitpointInfo& waitpoint);
// The same at an instant: from its expiry on a waitpoint is closed, though its timer may not have fired.
bool is_open(const WaitpointInfo& waitpoint, TimePoint now);
WaitpointInfo* find_waitpoint(Waits& waits, const WaitpointId& id);

// When the first of the open waitpoints expires.
std::optional<TimePoint> next_expiry(const Waits& waits);

BlockingReason blocking_reason(SuspendReason reason);

// As others see them. Of an execution that has ended, every waitpoint is closed.
WaitpointInfo info_of(WaitpointInfo waitpoint, const WaitDetails& details);
SuspensionReply info_of(const Waits& waits, const WaitDetails& details, bool ended);
ReceivedSignal info_of(StoredSignal signal, std::string payload);

}  // namespace ff::core
