// Passing errors on.
#pragma once

#include <expected>
#include <utility>

// Returns the error of a Result, if it has one: FF_TRY(parse(text)); or, to use its value afterwards,
// `const auto id = parse(text); FF_TRY(id);`. FF_CO_TRY is the same in a coroutine.
#define FF_TRY(...)                               \
  if (auto&& ff_tried = (__VA_ARGS__); !ff_tried) \
  return std::unexpected(std::forward<decltype(ff_tried)>(ff_tried).error())
#define FF_CO_TRY(...)                            \
  if (auto&& ff_tried = (__VA_ARGS__); !ff_tried) \
  co_return std::unexpected(std::forward<decltype(ff_tried)>(ff_tried).error())
