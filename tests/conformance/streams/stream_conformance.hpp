// The common words of the tests of streams.
#pragma once

#include "tests/conformance/conformance.hpp"

namespace ff::conformance {

inline AppendFrames append(const ClaimedExecution& claimed, std::uint64_t written,
                           std::vector<std::string> texts) {
  AppendFrames append{.id = claimed.id, .fence = claimed.fence, .written = written, .frames = {}};
  for (auto& text : texts) append.frames.push_back({.bytes = std::move(text)});
  return append;
}

// The bytes of the frames; a control frame as "(kind)".
inline std::vector<std::string> texts_of(const StreamPage& page) {
  std::vector<std::string> texts;
  for (const auto& frame : page.frames)
    texts.push_back(frame.kind == FrameKind::data ? frame.bytes
                                                  : fmt::format("({})", to_string(frame.kind)));
  return texts;
}

// It can have later attempts.
inline Submit retried_at_once() {
  return Submit{.kind = greet, .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}}};
}

}  // namespace ff::conformance
