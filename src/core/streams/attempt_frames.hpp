// Frames of one attempt, as the published contract shows them. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/execution/execution.hpp"
#include "core/streams/stream.hpp"

namespace ff::core {

inline constexpr std::size_t attempt_page_bytes_max = 256 * 1024;  // of payloads; then a page ends

struct StreamClosing {
  TimePoint at;
  std::string_view reason;
};

// When and why the stream of an attempt came to its end, in the contract's words; none: it did not. `attempts` are all
// of the execution.
std::optional<StreamClosing> closing_of(const Execution& execution,
                                        std::span<const Attempt> attempts, std::uint32_t index);

FrameId id_of(const Append& append, std::uint64_t number);

// Adds the frames of an append with these ids to a page; false if no later append has more for it.
bool add_to(AttemptFrames& page, const Append& append, const FrameId& first, const FrameId& last,
            std::uint32_t limit);

}  // namespace ff::core
