// How a command asks the engine, and says what it answered.
#pragma once

#include <flowfabric/engine.hpp>
#include <flowfabric/open.hpp>

#include <memory>

#include "base/try.hpp"
#include "cli/output/output.hpp"
#include "sdk/client/blocking.hpp"
#include "sdk/client/repeat.hpp"

namespace ff::cli {

// While the server cannot be reached, of calls that are safe to repeat.
inline constexpr Repeat command_repeat{.limit = std::chrono::seconds{2}};

// The engine that the settings name. Unlike open(), it makes no store: a mistyped directory is refused.
Result<std::shared_ptr<Engine>> open_engine(const Settings& settings);

// Token and CA file for connecting to a server.
Result<OpenOptions> open_options(const Settings& settings);

// The one operation that a command is about.
template <class Op>
Result<typename Op::Reply> ask(const Context& context, const Request& request) {
  auto operation = request.to<Op>();
  FF_TRY(operation);
  const auto engine = open_engine(context.settings);
  FF_TRY(engine);
  return run_blocking(**engine, std::move(*operation));
}

// A command that is no more than that: it prints the reply.
template <class Op>
Run ask_and_print(std::shared_ptr<Request> request) {
  return [request](const Context& context) -> Result<ExitCode> {
    const auto reply = ask<Op>(context, *request);
    FF_TRY(reply);
    print_object(context, http::to_fields(*reply));
    return ExitCode::ok;
  };
}

}  // namespace ff::cli
