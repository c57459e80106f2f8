#include "store/embedded/disk/suspension_records.hpp"

#include <fmt/format.h>

#include "base/overloaded.hpp"
#include "records.pb.h"
#include "store/embedded/disk/record_reader.hpp"

namespace ff::embedded {
namespace {

std::int64_t ms_of(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint time_at(std::int64_t ms) { return TimePoint{Millis{ms}}; }

template <class Id>
std::string uuid_bytes(const Id& id) {
  return {id.uuid().bytes().begin(), id.uuid().bytes().end()};
}

// ---- Writing -------------------------------------------------------------------------------------

void write_condition(const Condition& condition, proto::Condition& out) {
  std::visit(Overloaded{
                 [&](const OneSignal& one) {
                   auto& stored = *out.mutable_signal();
                   if (one.name) stored.set_name(one.name->str());
                   if (one.waitpoint) stored.set_waitpoint(one.waitpoint->str());
                 },
                 [&](const AllOf& all) {
                   auto& stored = *out.mutable_all();
                   for (const auto& part : all.of) write_condition(part, *stored.add_of());
                 },
                 [&](const AnyOf& any) {
                   auto& stored = *out.mutable_any();
                   for (const auto& part : any.of) write_condition(part, *stored.add_of());
                 },
                 [&](const CountOf& many) {
                   auto& stored = *out.mutable_count();
                   stored.set_n(many.n);
                   stored.set_of(std::to_underlying(many.of));
                   if (many.name) stored.set_name(many.name->str());
                   for (const auto& key : many.waitpoints) stored.add_waitpoints(key.str());
                 },
                 [&](const OperatorOnly&) { out.mutable_operator_only(); },
                 [&](const TimeoutOnly&) { out.mutable_timeout_only(); },
             },
             condition.is);
}

void write_question(const Question& question, proto::Question& out) {
  out.set_title(question.title);
  out.set_text(question.text);
  for (const auto& choice : question.choices) {
    auto& stored = *out.add_choices();
    stored.set_signal(choice.signal.str());
    stored.set_label(choice.label);
  }
  for (const auto& approver : question.approvers) out.add_approvers(approver);
}

void write_waitpoint(const WaitpointInfo& waitpoint, proto::Waitpoint& out) {
  out.set_id(uuid_bytes(waitpoint.id));
  out.set_key(waitpoint.key.str());
  out.set_state(std::to_underlying(waitpoint.state));
  out.set_created_at_ms(ms_of(waitpoint.created_at));
  if (waitpoint.expires_at) out.set_expires_at_ms(ms_of(*waitpoint.expires_at));
  if (waitpoint.closed_at) out.set_closed_at_ms(ms_of(*waitpoint.closed_at));
  if (waitpoint.close_reason) out.set_close_reason(*waitpoint.close_reason);
  out.set_signals(waitpoint.signals);
  out.set_counted(waitpoint.counted);
}

void write_suspension(const core::Suspension& suspension, proto::Suspension& out) {
  out.set_id(uuid_bytes(suspension.id));
  out.set_lease_id(uuid_bytes(suspension.lease_id));
  out.set_lease_epoch(std::to_underlying(suspension.lease_epoch));
  out.set_attempt_index(suspension.attempt_index);
  out.set_reason(std::to_underlying(suspension.reason));
  out.set_since_ms(ms_of(suspension.since));
  write_condition(suspension.condition, *out.mutable_condition());
  for (const auto& part : suspension.tally.parts) {
    auto& stored = *out.add_tally();
    for (const auto& counted : part) stored.add_counted(counted);
  }
  if (suspension.timeout_at) out.set_timeout_at_ms(ms_of(*suspension.timeout_at));
  out.set_on_timeout(std::to_underlying(suspension.on_timeout));
  out.set_escalated(suspension.escalated);
  out.set_resume_delay_ms(suspension.resume_delay.count());
  for (const auto& id : suspension.waitpoints) out.add_waitpoints(uuid_bytes(id));
  out.set_satisfied_at_once(suspension.satisfied_at_once);
  if (suspension.closed_at) out.set_closed_at_ms(ms_of(*suspension.closed_at));
  out.set_close_reason(suspension.close_reason);
}

// ---- Reading -------------------------------------------------------------------------------------

class WaitsReader : public RecordReader {
 public:
  Condition condition(const proto::Condition& stored) {
    using Stored = proto::Condition;
    switch (stored.is_case()) {
      case Stored::kSignal: {
        OneSignal one;
        if (stored.signal().has_name()) one.name = text<SignalName>(stored.signal().name());
        if (stored.signal().has_waitpoint())
          one.waitpoint = text<WaitpointKey>(stored.signal().waitpoint());
        return {one};
      }
      case Stored::kAll: return {AllOf{parts(stored.all())}};
      case Stored::kAny: return {AnyOf{parts(stored.any())}};
      case Stored::kCount: {
        CountOf many{.n = stored.count().n(), .of = named<Counted>(stored.count().of())};
        if (stored.count().has_name()) many.name = text<SignalName>(stored.count().name());
        for (const auto& key : stored.count().waitpoints())
          many.waitpoints.push_back(text<WaitpointKey>(key));
        return {many};
      }
      case Stored::kOperatorOnly: return {OperatorOnly{}};
      case Stored::kTimeoutOnly: return {TimeoutOnly{}};
      case Stored::IS_NOT_SET: break;
    }
    refuse();
    return {};
  }

  WaitpointInfo waitpoint(const proto::Waitpoint& stored) {
    WaitpointInfo waitpoint{.id = WaitpointId{uuid(stored.id())},
                            .key = text<WaitpointKey>(stored.key()),
                            .state = named<WaitpointState>(stored.state()),
                            .created_at = time_at(stored.created_at_ms()),
                            .signals = stored.signals(),
                            .counted = stored.counted()};
    if (stored.has_expires_at_ms()) waitpoint.expires_at = time_at(stored.expires_at_ms());
    if (stored.has_closed_at_ms()) waitpoint.closed_at = time_at(stored.closed_at_ms());
    if (stored.has_close_reason()) waitpoint.close_reason = stored.close_reason();
    return waitpoint;
  }

  core::Suspension suspension(const proto::Suspension& stored) {
    core::Suspension suspension{.id = SuspensionId{uuid(stored.id())},
                                .lease_id = LeaseId{uuid(stored.lease_id())},
                                .lease_epoch = LeaseEpoch{stored.lease_epoch()},
                                .attempt_index = stored.attempt_index(),
                                .reason = named<SuspendReason>(stored.reason()),
                                .since = time_at(stored.since_ms()),
                                .condition = condition(stored.condition()),
                                .on_timeout = named<TimeoutAction>(stored.on_timeout()),
                                .escalated = stored.escalated(),
                                .resume_delay = Millis{stored.resume_delay_ms()},
                                .satisfied_at_once = stored.satisfied_at_once(),
                                .close_reason = stored.close_reason()};
    for (const auto& part : stored.tally())
      suspension.tally.parts.emplace_back(part.counted().begin(), part.counted().end());
    if (stored.has_timeout_at_ms()) suspension.timeout_at = time_at(stored.timeout_at_ms());
    for (const auto& id : stored.waitpoints()) suspension.waitpoints.emplace_back(uuid(id));
    if (stored.has_closed_at_ms()) suspension.closed_at = time_at(stored.closed_at_ms());
    return suspension;
  }

  Question question(const proto::Question& stored) {
    Question question{.title = stored.title(), .text = stored.text()};
    for (const auto& choice : stored.choices())
      question.choices.push_back(
          {.signal = text<SignalName>(choice.signal()), .label = choice.label()});
    question.approvers.assign(stored.approvers().begin(), stored.approvers().end());
    return question;
  }

 private:
  std::vector<Condition> parts(const proto::Condition::Group& stored) {
    std::vector<Condition> parts;
    for (const auto& part : stored.of()) parts.push_back(condition(part));
    return parts;
  }
};

}  // namespace

std::unexpected<Error> damaged_suspension(const ExecutionId& id) {
  return fail(
      Errc::store_damaged,
      fmt::format("a record of the suspensions, signals or steps of execution {} is damaged; "
                  "restore the data directory from a backup",
                  id.str()));
}

std::string encode(const core::Waits& waits) {
  proto::Waits out;
  for (const auto& waitpoint : waits.waitpoints) write_waitpoint(waitpoint, *out.add_waitpoints());
  if (waits.suspension) write_suspension(*waits.suspension, *out.mutable_suspension());
  out.set_first_uncounted(waits.first_uncounted);
  out.set_has_details(waits.has_details);
  return out.SerializeAsString();
}

Result<core::Waits> decode_waits(const ExecutionId& id, std::string_view bytes) {
  proto::Waits stored;
  if (!parse(stored, bytes)) return damaged_suspension(id);
  WaitsReader read;
  core::Waits waits{.first_uncounted = stored.first_uncounted(),
                    .has_details = stored.has_details()};
  for (const auto& waitpoint : stored.waitpoints())
    waits.waitpoints.push_back(read.waitpoint(waitpoint));
  if (stored.has_suspension()) waits.suspension = read.suspension(stored.suspension());
  if (!read.ok()) return damaged_suspension(id);
  return waits;
}

std::string encode(const core::WaitDetails& details) {
  proto::WaitDetails out;
  out.set_state(details.state);
  for (const auto& [waitpoint, question] : details.questions) {
    auto& stored = *out.add_questions();
    stored.set_waitpoint(uuid_bytes(waitpoint));
    write_question(question, *stored.mutable_question());
  }
  for (const auto index : details.passed_over) out.add_passed_over(index);
  return out.SerializeAsString();
}

Result<core::WaitDetails> decode_details(const ExecutionId& id, std::string_view bytes) {
  proto::WaitDetails stored;
  if (!parse(stored, bytes)) return damaged_suspension(id);
  WaitsReader read;
  core::WaitDetails details{.state = stored.state()};
  for (const auto& each : stored.questions())
    details.questions.emplace(read.uuid(each.waitpoint()), read.question(each.question()));
  details.passed_over.assign(stored.passed_over().begin(), stored.passed_over().end());
  if (!read.ok()) return damaged_suspension(id);
  return details;
}

Result<core::WaitDetails> details_in_waits(const ExecutionId& id, std::string_view bytes) {
  proto::Waits stored;
  if (!parse(stored, bytes)) return damaged_suspension(id);
  WaitsReader read;
  core::WaitDetails details{.state = stored.suspension().state()};
  for (const auto& each : stored.waitpoints())
    if (each.has_question())
      details.questions.emplace(read.uuid(each.id()), read.question(each.question()));
  if (!read.ok()) return damaged_suspension(id);
  return details;
}

std::string encode(const core::StoredSignal& signal) {
  proto::Signal out;
  out.set_id(uuid_bytes(signal.id));
  out.set_name(signal.name.str());
  if (signal.waitpoint) out.set_waitpoint(uuid_bytes(*signal.waitpoint));
  if (signal.waitpoint_key) out.set_waitpoint_key(signal.waitpoint_key->str());
  out.set_source_type(signal.source.type);
  out.set_source_identity(signal.source.identity);
  out.set_category(signal.category);
  out.set_correlation_id(signal.correlation_id);
  out.set_accepted_at_ms(ms_of(signal.accepted_at));
  out.set_effect(std::to_underlying(signal.effect));
  if (signal.counted_for) out.set_counted_for(uuid_bytes(*signal.counted_for));
  if (signal.content_type) out.set_content_type(signal.content_type->str());
  return out.SerializeAsString();
}

Result<core::StoredSignal> decode_signal(const ExecutionId& id, std::uint32_t index,
                                         std::string_view bytes) {
  proto::Signal stored;
  if (!parse(stored, bytes)) return damaged_suspension(id);
  WaitsReader read;
  core::StoredSignal signal{
      .index = index,
      .id = SignalId{read.uuid(stored.id())},
      .name = read.text<SignalName>(stored.name()),
      .source = {.type = stored.source_type(), .identity = stored.source_identity()},
      .category = stored.category(),
      .correlation_id = stored.correlation_id(),
      .accepted_at = time_at(stored.accepted_at_ms()),
      .effect = read.named<SignalEffect>(stored.effect())};
  if (stored.has_waitpoint()) signal.waitpoint = WaitpointId{read.uuid(stored.waitpoint())};
  if (stored.has_waitpoint_key())
    signal.waitpoint_key = read.text<WaitpointKey>(stored.waitpoint_key());
  if (stored.has_counted_for()) signal.counted_for = SuspensionId{read.uuid(stored.counted_for())};
  if (stored.has_content_type())
    signal.content_type = read.text<ContentType>(stored.content_type());
  if (!read.ok()) return damaged_suspension(id);
  return signal;
}

std::string encode(const core::KnownSignal& signal) {
  proto::KnownSignal out;
  out.set_id(uuid_bytes(signal.id));
  out.set_effect(std::to_underlying(signal.effect));
  out.set_until_ms(ms_of(signal.until));
  return out.SerializeAsString();
}

Result<core::KnownSignal> decode_known_signal(const ExecutionId& id, const SignalKey& key,
                                              std::string_view bytes) {
  proto::KnownSignal stored;
  if (!parse(stored, bytes)) return damaged_suspension(id);
  WaitsReader read;
  core::KnownSignal signal{.key = key,
                           .id = SignalId{read.uuid(stored.id())},
                           .effect = read.named<SignalEffect>(stored.effect()),
                           .until = time_at(stored.until_ms())};
  if (!read.ok()) return damaged_suspension(id);
  return signal;
}

std::string encode(const core::StoredStep& step) {
  proto::Step out;
  out.set_at_ms(ms_of(step.at));
  if (step.content_type) out.set_content_type(step.content_type->str());
  out.set_result(step.result);
  return out.SerializeAsString();
}

Result<core::StoredStep> decode_step(const ExecutionId& id, std::string_view name,
                                     std::string_view bytes) {
  proto::Step stored;
  if (!parse(stored, bytes)) return damaged_suspension(id);
  WaitsReader read;
  core::StoredStep step{.name = read.text<StepName>(std::string(name)),
                        .at = time_at(stored.at_ms()),
                        .result = stored.result()};
  if (stored.has_content_type()) step.content_type = read.text<ContentType>(stored.content_type());
  if (!read.ok()) return damaged_suspension(id);
  return step;
}

}  // namespace ff::embedded
