// Commands that show one execution or what belongs to it.
#include "base/try.hpp"
#include "cli/engine.hpp"
#include "cli/input/wait.hpp"

namespace ff::cli {
namespace {

constexpr std::array attempt_columns{
    FieldColumn{"index"},   FieldColumn{"type"},           FieldColumn{"worker"},
    FieldColumn{"outcome"}, FieldColumn{"started_at_ms"},  FieldColumn{"ended_at_ms"},
    FieldColumn{"cause"},   FieldColumn{"failure_reason"}, FieldColumn{"failure_category"}};
constexpr std::array lease_columns{FieldColumn{"at_ms"},       FieldColumn{"type"},
                                   FieldColumn{"lease_epoch"}, FieldColumn{"attempt_index"},
                                   FieldColumn{"worker"},      FieldColumn{"reason"}};

constexpr std::array stream_columns{FieldColumn{"name"}, FieldColumn{"durability"}, FieldColumn{"first"},
                                    FieldColumn{"next"}, FieldColumn{"bytes"}};

// A command that prints the list `items` of an operation's reply.
template <class Op, class Items>
Run list_of(Arguments& arguments, std::span<const FieldColumn> columns, Items items) {
  auto request = std::make_shared<Request>();
  arguments.execution(*request);
  return [=](const Context& context) -> Result<ExitCode> {
    const auto reply = ask<Op>(context, *request);
    FF_TRY(reply);
    print_rows(context, columns, fields_of((*reply).*items));
    return ExitCode::ok;
  };
}

// For a person, what it waits for in words; condition and waitpoints are left to programs, and its times stand
// beside it already.
json::object suspension_fields(const Context& context, const SuspensionReply& reply) {
  auto fields = http::to_fields(*reply.suspension);
  if (context.json) return fields;
  for (const char* name : {"id", "condition", "waitpoints", "handler_state", "attempt_index",
                           "since_ms", "timeout_at_ms"})
    fields.erase(name);
  return fields;
}

}  // namespace

Run setup_get(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.execution(*request);
  arguments.examples("  ff get ID\n  ff get ID --json | jq .state_vector");
  return [request](const Context& context) -> Result<ExitCode> {
    const auto get = request->to<GetExecution>();
    FF_TRY(get);
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    const auto execution = run_blocking(**engine, *get);
    FF_TRY(execution);
    auto fields = http::to_fields(*execution);
    if (execution->state == ExecutionState::suspended) {
      const auto suspension = run_blocking(**engine, GetSuspension{get->id});
      FF_TRY(suspension);
      if (suspension->suspension) fields["suspension"] = suspension_fields(context, *suspension);
    }
    print_object(context, fields);
    return ExitCode::ok;
  };
}

Run setup_payload(Arguments& arguments) {
  auto request = std::make_shared<Request>();
  arguments.execution(*request);
  arguments.examples("  ff payload ID > payload.bin");
  return [request](const Context& context) -> Result<ExitCode> {
    const auto payload = ask<GetPayload>(context, *request);
    FF_TRY(payload);
    print_bytes(context, "payload", request->to<GetPayload>()->id, *payload);
    return ExitCode::ok;
  };
}

Run setup_result(Arguments& arguments) {
  struct Given {
    Request request;
    WaitOption wait;
  };
  auto given = std::make_shared<Given>();
  arguments.execution(given->request);
  given->wait.add_to(arguments, "Wait for its end");
  arguments.examples("  ff result ID > result.bin\n  ff result ID --wait --timeout 10m");
  return [given](const Context& context) -> Result<ExitCode> {
    const auto get = given->request.to<GetResult>();
    FF_TRY(get);
    const auto engine = open_engine(context.settings);
    FF_TRY(engine);
    return print_result(context, **engine, get->id, given->wait.limit());
  };
}

Run setup_attempts(Arguments& arguments) {
  arguments.examples("  ff attempts ID\n  ff attempts ID --json | jq -r .failure_reason");
  return list_of<GetAttempts>(arguments, attempt_columns, &Attempts::attempts);
}

Run setup_leases(Arguments& arguments) {
  arguments.examples("  ff leases ID");
  return list_of<GetLeaseHistory>(arguments, lease_columns, &LeaseHistory::events);
}

Run setup_streams(Arguments& arguments) {
  arguments.examples("  ff streams ID");
  return list_of<ListStreams>(arguments, stream_columns, &StreamList::streams);
}

}  // namespace ff::cli
