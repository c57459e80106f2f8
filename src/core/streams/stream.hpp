// The records of streams. Pure functions.
#pragma once

#include <flowfabric/streams.hpp>

#include <optional>
#include <vector>

namespace ff::core {

// A stream as its execution keeps it.
struct Stream {
  StreamName name;
  StreamClass durability{};
  StreamFull when_full{};
  StreamKind kind{};
  std::uint64_t first = 0;  // the oldest frame that is kept
  std::uint64_t next = 0;   // the number of the next one
  std::uint64_t bytes = 0;  // of those kept
  std::uint32_t attempt = 0;  // that appended last
  std::uint64_t written = 0;  // frames that it appended
  std::uint32_t last_count = 0;  // frames of its last append, which may be repeated
  TimePoint last_at = {};        // of its last append; the next one is not earlier
  std::uint64_t lost = 0;     // numbers from `first` on without a frame
  std::uint64_t version = 0;  // of a summary: patches that its document has seen
  std::uint64_t crashes = 0;  // of the store, when it was appended to last
  LeaseEpoch writer{};        // the lease under which that was
  bool operator==(const Stream&) const = default;
};

struct Streams {
  std::vector<Stream> all = {};  // in the order of their first appends
  bool operator==(const Streams&) const = default;
};

// Appends are kept whole, in the order of their ends.
struct AppendPlace {
  std::uint32_t stream = 0;  // its index among the execution's
  std::uint64_t end = 0;     // the number behind its last frame
  auto operator<=>(const AppendPlace&) const = default;
};

// The frames of one append.
struct Append {
  AppendPlace place;
  std::uint32_t attempt = 0;
  TimePoint at;
  std::uint64_t lost = 0;       // numbers before its own that have no frames
  bool begins_attempt = false;  // its first frame tells so
  std::vector<NewFrame> frames;
  bool operator==(const Append&) const = default;
};

struct AppendSize {
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;
};

// The document of a summary stream.
struct StreamDocument {
  std::uint32_t stream = 0;  // its index among the execution's
  std::string text;
  bool operator==(const StreamDocument&) const = default;
};

struct StreamLimits {
  std::uint64_t frames_max = 0;  // that are kept
  std::uint64_t bytes_max = 0;
};
StreamLimits limits_of(StreamClass durability, StreamKind kind);

// As it is written to disk. Frames of a live stream are not, and numbers are reserved in steps, so that most appends
// write nothing; a store that is opened anew goes on behind the reserved ones.
Streams on_disk(Streams streams);

// Counts what is not the caller's bytes, too.
std::uint64_t bytes_of(const std::vector<NewFrame>& frames);

// Whether a reader needs the document of a summary, rather than patches.
bool needs_snapshot(const Stream& stream, std::uint64_t from);

// A page without frames yet. `stream` is null if nobody has written to it; `end` is how the execution ended, if it
// did. If the reader needs the document, that is all that is missing.
StreamPage begin_page(const Stream* stream, std::uint64_t from, std::optional<ExecutionState> end);

// The frames of a page that stand for unreadable ones: a `lost` frame behind its end, and the document of a summary in
// place of its patches.
std::vector<Frame> told_before(const StreamPage& page, std::uint64_t from);

// Tells the end on the page that has the last frame.
void end_page(StreamPage& page, const Stream& stream, std::optional<ExecutionState> end);

struct PageLimits {
  std::uint32_t frames_max = 0;
  std::size_t bytes_max = 0;  // the frame that reaches it is the last
};

// Adds the frames from a number on to a page, as many as it may hold; false if it is full.
bool add_to(StreamPage& page, Append append, std::uint64_t from, PageLimits most);

// Frames before this number are no longer kept; false if the page has to end there.
bool skip_to(StreamPage& page, std::uint64_t number);

StreamList info_of(const Streams& streams);

}  // namespace ff::core
