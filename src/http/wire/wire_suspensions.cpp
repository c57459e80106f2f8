// JSON fields of suspensions, waitpoints, signals and durable steps.
#include <flowfabric/limits.hpp>

#include <algorithm>
#include <array>

#include "base/text/utf8.hpp"
#include "base/try.hpp"
#include "http/wire/json_codec.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

// ---- Conditions ---------------------------------------------------------------------------------
//
//   condition := {} | {"signal": NAME, "waitpoint": KEY}          NAME "*" or left out: any
//              | {"all": [condition…]} | {"any": [condition…]}
//              | {"count": N, "of": …, "signal": NAME, "waitpoints": [KEY…]}
//              | "operator" | "timeout"

void describe(Fields& fields, OneSignal& one) {
  fields.optional("signal", one.name);
  fields.optional("waitpoint", one.waitpoint);
}

void describe(Fields& fields, CountOf& count) {
  fields.required("count", count.n);
  fields.defaulted("of", count.of);
  fields.optional("signal", count.name);
  fields.defaulted("waitpoints", count.waitpoints);
}

void describe(Fields& fields, AllOf& all);
void describe(Fields& fields, AnyOf& any);

namespace {

constexpr std::string_view any_signal = "*";
constexpr std::string_view operator_only = "operator";
constexpr std::string_view timeout_only = "timeout";

// Bounds the recursion; the limit of a valid condition is core's.
constexpr std::size_t nesting_max = 2 * limits::condition_depth_max;

Result<Condition> read_condition(const json::value& value, Source source, std::size_t depth);

Result<std::vector<Condition>> read_parts(const json::object& object, std::string_view name,
                                          Source source, std::size_t depth) {
  for (const auto& member : object)
    if (member.key() != name && source != Source::reply)
      return fail_field(Errc::unknown_field, printable(member.key()),
                        fmt::format("there is no field '{}' beside {}; put it into the list",
                                    printable(member.key()), name));
  const auto& list = object.at(name);
  if (!list.is_array())
    return std::unexpected(inside(name, wrong_type("a list of conditions", list).error()));
  std::vector<Condition> parts;
  for (std::size_t i = 0; i < list.get_array().size(); ++i) {
    auto part = read_condition(list.get_array()[i], source, depth + 1);
    if (!part)
      return std::unexpected(inside(fmt::format("{}[{}]", name, i), std::move(part.error())));
    parts.push_back(std::move(*part));
  }
  return parts;
}

Result<Condition> read_word(std::string_view word) {
  if (word == operator_only) return Condition{OperatorOnly{}};
  if (word == timeout_only) return Condition{TimeoutOnly{}};
  return fail(Errc::invalid_input, fmt::format("must be {} or {}, or an object, got '{}'",
                                               operator_only, timeout_only, printable(word)));
}

// A leaf: `name` "*" means any signal.
template <class Leaf>
Result<Condition> read_leaf(const json::object& object, Source source) {
  auto leaf = from_fields<Leaf>({}, object, source);
  FF_TRY(leaf);
  if (leaf->name && leaf->name->str() == any_signal) leaf->name.reset();
  return Condition{std::move(*leaf)};
}

Result<Condition> read_condition(const json::value& value, Source source, std::size_t depth) {
  if (depth > nesting_max)
    return fail(Errc::invalid_condition,
                fmt::format("must be nested at most {} deep", limits::condition_depth_max));
  if (value.is_string()) return read_word(value.get_string());
  if (!value.is_object()) return wrong_type("an object, operator or timeout", value);
  const auto& object = value.get_object();
  constexpr std::array kinds{"all", "any", "count"};
  const auto has = [&](const char* kind) { return object.contains(kind); };
  if (std::ranges::count_if(kinds, has) > 1)
    return fail(Errc::invalid_input, "must have only one of all, any and count");
  if (has("count")) return read_leaf<CountOf>(object, source);
  if (!has("all") && !has("any")) return read_leaf<OneSignal>(object, source);
  auto parts = read_parts(object, has("all") ? "all" : "any", source, depth);
  FF_TRY(parts);
  if (has("all")) return Condition{AllOf{std::move(*parts)}};
  return Condition{AnyOf{std::move(*parts)}};
}

}  // namespace

template <>
struct Codec<Condition> {
  static json::value write(const Condition& condition) {
    return std::visit(
        []<class Is>(const Is& is) -> json::value {
          if constexpr (std::same_as<Is, OperatorOnly>)
            return json::value(operator_only);
          else if constexpr (std::same_as<Is, TimeoutOnly>)
            return json::value(timeout_only);
          else
            return to_fields(is);
        },
        condition.is);
  }
  static Result<Condition> read(const json::value& value, Source source) {
    if (source != Source::url) return read_condition(value, source, 1);
    const auto text = Codec<std::string>::read(value, source);
    FF_TRY(text);
    boost::system::error_code malformed;
    const auto parsed = json::parse(*text, malformed);
    if (malformed) return read_word(*text);
    return read_condition(parsed, Source::json, 1);
  }
  static json::object schema(NamedSchemas& named) {
    if (named.try_emplace("Condition").second)
      named["Condition"] = {
          {"anyOf", json::array{schema_of<OneSignal>(named), schema_of<AllOf>(named),
                                schema_of<AnyOf>(named), schema_of<CountOf>(named),
                                json::object{{"type", "string"},
                                             {"enum", json::array{operator_only, timeout_only}}}}}};
    return reference("Condition");
  }
};

void describe(Fields& fields, AllOf& all) { fields.required("all", all.of); }
void describe(Fields& fields, AnyOf& any) { fields.required("any", any.of); }

// ---- Waitpoints ---------------------------------------------------------------------------------

void describe(Fields& fields, Question::Choice& choice) {
  fields.required("signal", choice.signal);
  fields.required("label", choice.label);
}

void describe(Fields& fields, Question& question) {
  fields.defaulted("title", question.title);
  fields.defaulted("text", question.text);
  fields.defaulted("choices", question.choices);
  fields.defaulted("approvers", question.approvers);
}

void describe(Fields& fields, WaitpointInfo& waitpoint) {
  fields.required("id", waitpoint.id);
  fields.required("key", waitpoint.key);
  fields.required("state", waitpoint.state);
  fields.required("created_at_ms", waitpoint.created_at);
  fields.optional("expires_at_ms", waitpoint.expires_at);
  fields.optional("closed_at_ms", waitpoint.closed_at);
  fields.optional("close_reason", waitpoint.close_reason);
  fields.required("signals", waitpoint.signals);
  fields.required("counted", waitpoint.counted);
  fields.optional("question", waitpoint.question);
}

void describe(Fields& fields, WaitpointToken& token) {
  fields.optional("approver", token.approver);
  fields.required("token", token.token);
}

void describe(Fields& fields, IssuedWaitpoint& issued) {
  describe(fields, issued.info);
  fields.required("tokens", issued.tokens);
}

void describe(Fields& fields, NewWaitpoint& waitpoint) {
  fields.required("key", waitpoint.key);
  fields.optional("waitpoint_id", waitpoint.id);
  fields.optional("expires_in_ms", waitpoint.expires_in);
  fields.optional("question", waitpoint.question);
}

void describe(Fields& fields, CreateWaitpoint& create) {
  fields.required("id", create.id);
  fields.fence(create.fence);
  describe(fields, create.waitpoint);
}

void describe(Fields& fields, CreateWaitpointReply& reply) {
  fields.required("waitpoint", reply.waitpoint);
  fields.required("duplicate", reply.duplicate);
}

void describe(Fields& fields, CloseWaitpoint& close) {
  fields.required("id", close.id);
  fields.required("waitpoint", close.waitpoint);
  fields.defaulted("reason", close.reason);
}

void describe(Fields& fields, CloseWaitpointReply& reply) {
  fields.required("closed", reply.closed);
}

void describe(Fields& fields, ListWaitpoints& list) {
  fields.required("id", list.id);
  fields.defaulted("limit", list.limit);
  fields.optional("cursor", list.cursor);
}

void describe(Fields& fields, WaitpointList& reply) {
  fields.required("waitpoints", reply.waitpoints);
  fields.optional("next", reply.next);
}

void describe(Fields& fields, GetWaitpointTokens& get) {
  fields.required("id", get.id);
  fields.required("waitpoint", get.waitpoint);
}

// ---- Suspending and resuming --------------------------------------------------------------------

void describe(Fields& fields, Suspend& suspend) {
  fields.required("id", suspend.id);
  fields.fence(suspend.fence);
  fields.optional("suspension_id", suspend.suspension_id);
  fields.defaulted("condition", suspend.condition);
  fields.defaulted("waitpoints", suspend.waitpoints);
  fields.defaulted("reason", suspend.reason);
  fields.optional("timeout_ms", suspend.timeout);
  fields.defaulted("on_timeout", suspend.on_timeout);
  fields.defaulted("resume_delay_ms", suspend.resume_delay);
  fields.bytes("handler_state", suspend.state);
}

void describe(Fields& fields, SuspendReply& reply) {
  fields.required("state", reply.state);
  fields.required("suspension_id", reply.suspension_id);
  fields.required("satisfied", reply.satisfied);
  fields.optional("timeout_at_ms", reply.timeout_at);
  fields.required("waitpoints", reply.waitpoints);
}

void describe(Fields& fields, Resume& resume) {
  fields.required("id", resume.id);
  fields.defaulted("reason", resume.reason);
  fields.defaulted("delay_ms", resume.delay);
}

void describe(Fields& fields, SuspensionInfo& suspension) {
  fields.required("id", suspension.id);
  fields.required("reason", suspension.reason);
  fields.required("since_ms", suspension.since);
  fields.required("attempt_index", suspension.attempt_index);
  fields.required("condition", suspension.condition);
  fields.required("progress", suspension.progress);
  fields.optional("timeout_at_ms", suspension.timeout_at);
  fields.required("on_timeout", suspension.on_timeout);
  fields.required("escalated", suspension.escalated);
  fields.optional("closed_at_ms", suspension.closed_at);
  fields.optional("close_reason", suspension.close_reason);
  fields.required("waitpoints", suspension.waitpoints);
  fields.bytes("handler_state", suspension.state);
}

void describe(Fields& fields, SuspensionReply& reply) {
  fields.optional("suspension", reply.suspension);
  fields.required("waitpoints", reply.waitpoints);
}

void describe(Fields& fields, Wake& wake) {
  fields.required("suspension_id", wake.suspension_id);
  fields.required("cause", wake.cause);
  fields.required("at_ms", wake.at);
  fields.defaulted("reason", wake.reason);
}

// ---- Signals ------------------------------------------------------------------------------------

void describe(Fields& fields, SignalSource& source) {
  fields.defaulted("type", source.type);
  fields.defaulted("identity", source.identity);
}

void describe(Fields& fields, SendSignal& send) {
  fields.required("id", send.id);
  fields.required("name", send.name);
  fields.optional("waitpoint", send.waitpoint);
  fields.optional("signal_id", send.signal_id);
  fields.typed_bytes("payload", send.payload, send.content_type);
  fields.defaulted("source", send.source);
  fields.defaulted("category", send.category);
  fields.defaulted("correlation_id", send.correlation_id);
  fields.optional("idempotency_key", send.idempotency_key);
  fields.defaulted("dedup_window_ms", send.dedup_window);
}

void describe(Fields& fields, SignalReply& reply) {
  fields.required("signal_id", reply.signal_id);
  fields.required("effect", reply.effect);
  fields.required("duplicate", reply.duplicate);
  fields.required("state", reply.state);
}

void describe(Fields& fields, GetSignals& get) {
  fields.required("id", get.id);
  fields.defaulted("from", get.from);
  fields.defaulted("limit", get.limit);
}

void describe(Fields& fields, ReceivedSignal& signal) {
  fields.required("index", signal.index);
  fields.required("id", signal.id);
  fields.required("name", signal.name);
  fields.optional("waitpoint", signal.waitpoint);
  fields.required("source", signal.source);
  fields.required("category", signal.category);
  fields.required("correlation_id", signal.correlation_id);
  fields.required("accepted_at_ms", signal.accepted_at);
  fields.required("effect", signal.effect);
  fields.optional("counted_for", signal.counted_for);
  fields.bytes("payload", signal.payload);
  fields.optional("content_type", signal.content_type);
}

void describe(Fields& fields, SignalPage& page) {
  fields.required("signals", page.signals);
  fields.optional("next", page.next);
}

// ---- For outsiders ------------------------------------------------------------------------------

void describe(Fields& fields, ReadWaitpoint& read) { fields.required("token", read.token); }

void describe(Fields& fields, WaitpointView& view) {
  fields.required("state", view.state);
  fields.optional("question", view.question);
  fields.optional("approver", view.approver);
  fields.optional("answer", view.answer);
  fields.required("answers", view.answers);
  fields.required("progress", view.progress);
  fields.optional("expires_at_ms", view.expires_at);
}

void describe(Fields& fields, AnswerWaitpoint& answer) {
  fields.required("token", answer.token);
  fields.required("signal", answer.signal);
  fields.typed_bytes("payload", answer.payload, answer.content_type);
  fields.defaulted("comment", answer.comment);
}

void describe(Fields& fields, AnswerReply& reply) {
  fields.required("effect", reply.effect);
  fields.required("duplicate", reply.duplicate);
  fields.required("progress", reply.progress);
}

// ---- The published contract's signal ------------------------------------------------------------

namespace {

// Bytes as the contract writes them, a list of numbers; or as text.
struct ContractBytes {
  std::string bytes;
};

// The variants of the contract's reply.
struct Accepted {
  SignalId signal_id;
  SignalEffect effect{};
};
struct Duplicate {
  SignalId existing_signal_id;
};

// Members of the contract's request that have no effect here: the engine's clock and the policy decide.
template <class T>
void describe_unused(Fields& fields, std::string_view name) {
  std::optional<T> unused;
  fields.optional(name, unused);
}

}  // namespace

void describe(Fields& fields, Accepted& accepted) {
  fields.required("signal_id", accepted.signal_id);
  fields.required("effect", accepted.effect);
}
void describe(Fields& fields, Duplicate& duplicate) {
  fields.required("existing_signal_id", duplicate.existing_signal_id);
}

template <>
struct Codec<ContractBytes> {
  static json::value write(const ContractBytes& value) {
    if (is_valid_utf8(value.bytes)) return json::value(value.bytes);
    json::array list;
    for (const char c : value.bytes) list.push_back(static_cast<unsigned char>(c));
    return list;
  }
  static Result<ContractBytes> read(const json::value& value, Source source) {
    if (!value.is_array()) {
      auto text = Codec<std::string>::read(value, source);
      if (!text) return wrong_type("text or a list of bytes", value);
      return ContractBytes{std::move(*text)};
    }
    ContractBytes read;
    for (const auto& each : value.get_array()) {
      const auto byte = Codec<std::uint8_t>::read(each, source);
      FF_TRY(byte);
      read.bytes.push_back(static_cast<char>(*byte));
    }
    return read;
  }
  static json::object schema(NamedSchemas&) { return {}; }
};

void describe(Fields& fields, DeliverSignal& deliver) {
  fields.required("execution_id", deliver.id);
  fields.required("waitpoint_id", deliver.waitpoint);
  fields.required("waitpoint_token", deliver.token);
  fields.required("signal_id", deliver.signal_id);
  fields.required("signal_name", deliver.name);
  fields.defaulted("signal_category", deliver.category);
  fields.defaulted("source_type", deliver.source.type);
  fields.defaulted("source_identity", deliver.source.identity);
  ContractBytes payload{deliver.payload};
  fields.defaulted("payload", payload);
  deliver.payload = std::move(payload.bytes);
  fields.defaulted("correlation_id", deliver.correlation_id);
  fields.optional("idempotency_key", deliver.idempotency_key);
  fields.defaulted("dedup_ttl_ms", deliver.dedup_window);
  for (const char* text : {"payload_encoding", "target_scope"})
    describe_unused<std::string>(fields, text);
  for (const char* number :
       {"created_at", "resume_delay_ms", "max_signals_per_execution", "signal_maxlen", "now"})
    describe_unused<std::int64_t>(fields, number);
}

void describe(Fields& fields, DeliveredSignal& delivered) {
  auto& signal = delivered.signal;
  std::optional<Accepted> accepted;
  std::optional<Duplicate> duplicate;
  if (signal.duplicate)
    duplicate = {signal.signal_id};
  else
    accepted = {signal.signal_id, signal.effect};
  fields.optional("Accepted", accepted);
  fields.optional("Duplicate", duplicate);
  signal.duplicate = duplicate.has_value();
  if (duplicate) signal.signal_id = duplicate->existing_signal_id;
  if (!duplicate && accepted) {
    signal.signal_id = accepted->signal_id;
    signal.effect = accepted->effect;
  }
}

// ---- Durable steps ------------------------------------------------------------------------------

void describe(Fields& fields, PutStep& put) {
  fields.required("id", put.id);
  fields.required("name", put.name);
  fields.fence(put.fence);
  fields.typed_bytes("result", put.result, put.content_type);
}

void describe(Fields& fields, PutStepReply& reply) {
  fields.required("duplicate", reply.duplicate);
}

void describe(Fields& fields, GetStep& get) {
  fields.required("id", get.id);
  fields.required("name", get.name);
}

void describe(Fields& fields, StepInfo& step) {
  fields.required("name", step.name);
  fields.required("at_ms", step.at);
  fields.required("bytes", step.bytes);
  fields.optional("content_type", step.content_type);
}

void describe(Fields& fields, StepList& reply) { fields.required("steps", reply.steps); }

}  // namespace ff::http
