// The bytes of frames for people.
#pragma once

#include <flowfabric/streams.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "cli/output/screen.hpp"

namespace ff::cli {

// Frames must not steer the terminal: control characters are replaced, except for ends of lines and tabs.
std::string for_terminal(std::string_view bytes);

// The last line of the frames that is not blank, for a terminal; at most so many bytes of it.
std::string newest_line(const std::vector<Frame>& frames, std::size_t bytes_max);

// Of an attempt: neighbours differ; the first has none.
Colour colour_of_attempt(std::uint32_t attempt);

}  // namespace ff::cli
