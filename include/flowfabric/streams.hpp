// Streams: what an execution produces while it runs, as frames that can be read from any place and followed live.
#pragma once

#include <flowfabric/budgets.hpp>
#include <flowfabric/flows.hpp>
#include <flowfabric/frame_cursor.hpp>
#include <flowfabric/work.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ff {

// How safe the frames of a stream are. The first append decides.
enum class StreamClass : std::uint8_t {
  durable,   // as a result: an append is answered when it is on disk
  buffered,  // written without waiting for the disk: a power cut may cost the last frames
  live,      // a short ring that is not worth keeping: in memory, gone when the store is opened anew
};
FF_NAMES(StreamClass, "durable", "buffered", "live");

// How the frames of a stream relate to each other. Fixed by the first append.
enum class StreamKind : std::uint8_t {
  frames,   // one after the other
  summary,  // each is a JSON merge patch (RFC 7396) of one document
};
FF_NAMES(StreamKind, "frames", "summary");

// How an append treats a stream that has reached its limit. Fixed by the first append.
enum class StreamFull : std::uint8_t {
  trim,    // the oldest frames make room
  refuse,  // fails with stream_full
};
FF_NAMES(StreamFull, "trim", "refuse");

struct NewFrame {
  FrameType type = default_frame_type();
  std::string bytes = {};        // untouched
  std::string correlation = {};  // of the writer's own; not interpreted
  bool operator==(const NewFrame&) const = default;
};

struct AppendReply {
  std::uint64_t first = 0;  // the number of the first frame
  std::uint64_t next = 0;   // of the frame that is appended next
  bool duplicate = false;   // these frames were appended before
  // Of a hard breach by `usage`: what became of the execution.
  std::optional<OnHardLimit> action = {};
  bool operator==(const AppendReply&) const = default;
};

// Appends frames under the lease. `written` makes the call safe to repeat: frames that an attempt appended
// before are not appended again.
//
// A store that lost its last moments (a power cut, a failover) has fewer frames of the attempt than it acknowledged,
// and answers stream_sequence_gap. A writer that goes on says how many are `lost`: their numbers are not given again,
// and readers find a frame of the kind `lost` in their place.
struct AppendFrames {
  using Reply = AppendReply;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .writes = Writes::logged,
                                    .is_stored = true,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/streams/{stream}/frames",
                                             Role::work,
                                             "Append frames to a stream",
                                             {"appended", "duplicate"}}};
  ExecutionId id;
  StreamName stream = default_stream();
  Fence fence;
  std::uint64_t written = 0;  // frames that this attempt appended to the stream before
  std::vector<NewFrame> frames;
  StreamClass durability = StreamClass::buffered;
  StreamFull when_full = StreamFull::trim;
  StreamKind kind = StreamKind::frames;
  std::uint64_t lost = 0;  // of the `written`: the last ones, which were acknowledged and are not stored any more
  // Usage of making the frames, by dimension: reported to each budget of the execution, once, even if the call is
  // repeated.
  Amounts usage = {};
};

enum class FrameKind : std::uint8_t {
  data,
  attempt,  // a later attempt begins to write; what earlier ones wrote may be repeated
  lost,     // the frames from `lost_from` to this one were lost in a crash, or were never written
};
FF_NAMES(FrameKind, "data", "attempt", "lost");

struct Frame {
  std::uint64_t number = 0;  // dense, from 0, across attempts
  FrameKind kind{};
  std::uint32_t attempt = 0;
  TimePoint at;
  FrameType type;
  std::string bytes = {};
  std::string correlation = {};
  std::optional<std::uint64_t> lost_from = {};
  bool operator==(const Frame&) const = default;
};

// The document of a summary stream.
struct StreamSnapshot {
  std::string document;  // JSON
  std::uint64_t version = 0;  // how many patches it has seen
  bool operator==(const StreamSnapshot&) const = default;
};

struct StreamPage {
  std::vector<Frame> frames;
  std::uint64_t next = 0;  // `from` of the next page
  // The frames before this one are no longer kept, and some of them were asked for.
  std::optional<std::uint64_t> trimmed_to = {};
  // The stream ends before the place that was asked for: the frames from this number on were lost in a crash. The
  // next page begins there.
  std::optional<std::uint64_t> lost_from = {};
  // Of a summary stream, if it is read from 0 or from a place whose patches are not kept: the document with all frames
  // before `next`.
  std::optional<StreamSnapshot> snapshot = {};
  // How the execution ended, if it did: with the last frame of this page the stream is over.
  std::optional<ExecutionState> end = {};
  bool operator==(const StreamPage&) const = default;
};

// The frames of a stream from a place on. Waits up to `wait` for the first of them, or for the end. A stream that
// nobody has written to is empty.
struct ReadStream {
  using Reply = StreamPage;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .http = {HttpMethod::get,
                                             "/v1/executions/{id}/streams/{stream}", Role::read,
                                             "Read a stream, waiting for more if asked to"}};
  ExecutionId id;
  StreamName stream = default_stream();
  std::uint64_t from = 0;
  std::uint32_t limit = 100;
  // The frame that reaches so many bytes is the last of the page. Not a field of the HTTP API.
  std::size_t bytes_max = limits::stream_page_bytes_max;
  Millis wait{0};
  // Of CreateStreamTicket: with it, a reader needs no other right. Fails with unauthenticated if it is not valid.
  std::optional<std::string> ticket = {};
};

struct StreamInfo {
  StreamName name;
  StreamClass durability{};
  std::uint64_t first = 0;  // the oldest frame that is kept
  std::uint64_t next = 0;
  std::uint64_t bytes = 0;  // of those kept
  std::uint32_t attempt = 0;  // that appended last
  std::uint64_t written = 0;  // frames that it appended
  StreamKind kind{};
  std::uint64_t version = 0;  // of a summary: how many patches its document has seen
  bool operator==(const StreamInfo&) const = default;
};
struct StreamList {
  std::vector<StreamInfo> streams;  // in the order of their first appends
};
struct ListStreams {
  using Reply = StreamList;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .is_stored = true,
                                    .http = {HttpMethod::get, "/v1/executions/{id}/streams",
                                             Role::read, "The streams of an execution"}};
  ExecutionId id;
};

// ---- Streams of attempts, as the published contract has them ---------------------------------------
// They are a view of the stream `output`: the frames that one attempt appended.

// Names and bytes, in the contract's order: frame_type, ts, payload, encoding, source, …
struct FrameFields {
  std::vector<std::pair<std::string, std::string>> all;
  bool operator==(const FrameFields&) const = default;
};
struct AttemptFrame {
  FrameCursor id;
  FrameFields fields;
  bool operator==(const AttemptFrame&) const = default;
};
struct AttemptFrames {
  std::vector<AttemptFrame> frames;
  std::uint32_t count = 0;  // of them
  // The attempt has ended: there will be no frames beside those that are there.
  std::optional<TimePoint> closed_at = {};
  std::optional<std::string> closed_reason = {};
  bool operator==(const AttemptFrames&) const = default;
};

// The frames of an attempt from one place to another. An attempt that has not begun has none.
struct ReadAttemptStream {
  using Reply = AttemptFrames;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .http = {HttpMethod::get,
                                             "/v1/executions/{id}/attempts/{attempt}/stream",
                                             Role::read, "Read the frames of an attempt"}};
  ExecutionId id;
  std::uint32_t attempt = 0;
  FrameCursor from = FrameCursor::start();
  FrameCursor to = FrameCursor::end();
  std::uint32_t limit = 100;
};

// The frames of an attempt behind a place. Waits up to `wait` for the first of them, or for the attempt's end.
struct TailAttemptStream {
  using Reply = AttemptFrames;
  static constexpr OperationRow row{
      .owner = Owner::execution,
      .http = {HttpMethod::get, "/v1/executions/{id}/attempts/{attempt}/stream/tail", Role::read,
               "Follow the frames of an attempt"}};
  ExecutionId id;
  std::uint32_t attempt = 0;
  FrameCursor after = FrameCursor::at({});
  Millis wait{0};
  std::uint32_t limit = 50;
};

// ---- Tickets ------------------------------------------------------------------------------------

struct StreamTicket {
  std::string ticket;
  TimePoint expires_at;
  bool operator==(const StreamTicket&) const = default;
};

// A signed right to read the streams of one execution, and nothing else, for somebody who has no other right: a web
// page whose EventSource cannot send a token. Rotating the waitpoint secret ends it after the secret's grace.
struct CreateStreamTicket {
  using Reply = StreamTicket;
  static constexpr OperationRow row{.owner = Owner::execution,
                                    .http = {HttpMethod::post,
                                             "/v1/executions/{id}/stream-ticket", Role::submit,
                                             "Issue a ticket for reading an execution's streams",
                                             {"issued"}}};
  ExecutionId id;
  Millis ttl = limits::stream_ticket_ttl_default;
};

// ---- The streams of a flow ------------------------------------------------------------------------

struct FlowFrame {
  NodeName node;
  ExecutionId id;  // of the node
  StreamName stream;
  Frame frame;
  std::string place;  // behind this frame: `after` of the page that goes on there
  bool operator==(const FlowFrame&) const = default;
};

struct FlowStreamPage {
  std::vector<FlowFrame> frames;
  std::string next;  // `after` of the next page
  // How the flow ended, if it did: with the last frame of this page there is nothing more to come.
  std::optional<FlowState> end = {};
};

// The frames of all streams of all nodes of a flow. What stands there already comes node by node, in the order of
// their submission; what comes later, as it is written. Each stream's frames are in order, without holes except for
// those that are no longer kept. Waits up to `wait` for the first frame, or for the end of the flow. A call passes a
// bounded number of nodes, so a page may be empty although there is more: then its `next` is another place.
struct ReadFlowStream {
  using Reply = FlowStreamPage;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .http = {HttpMethod::get, "/v1/flows/{id}/stream", Role::read,
                                             "Read the streams of a flow's nodes as one"}};
  FlowId id;
  std::string after = {};  // a place; empty: from the beginning
  std::uint32_t limit = 100;
  std::size_t bytes_max = limits::stream_page_bytes_max;  // as of ReadStream
  Millis wait{0};
};

}  // namespace ff
