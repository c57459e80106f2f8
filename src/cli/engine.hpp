// How a command asks the engine.
#pragma once

#include <flowfabric/engine.hpp>
#include <flowfabric/open.hpp>

#include <memory>

#include "cli/command.hpp"
#include "sdk/blocking.hpp"

namespace ff::cli {

// The engine that the settings name. Unlike open(), it makes no store: a mistyped directory is refused.
Result<std::shared_ptr<Engine>> open_engine(const Settings& settings);

// The one operation that a command is about.
template <class Op>
Result<typename Op::Reply> ask(const Context& context, const Request& request) {
  auto operation = request.to<Op>();
  if (!operation) return std::unexpected(operation.error());
  const auto engine = open_engine(context.settings);
  if (!engine) return std::unexpected(engine.error());
  return run_blocking(**engine, std::move(*operation));
}

}  // namespace ff::cli
