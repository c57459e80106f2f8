// Streams: what an execution produces while it runs, as frames that can be read from any place and followed live.
#pragma once

#include <flowfabric/flows.hpp>
#include <flowfabric/work.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ff {

// How safe the frames of a stream are. The first append decides.
enum class StreamClass : std::uint8_t {
  durable,   // as a result: an append is answered when it is on disk
  buffered,  // written without waiting for the disk: a power cut may cost the last frames
};
FF_NAMES(StreamClass, "durable", "buffered");

// What an append does to a stream that holds as much as it may. The first append decides.
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
  bool operator==(const AppendReply&) const = default;
};

// Appends frames under the lease. `written` makes the call safe to repeat: frames that an attempt appended
// before are not appended again.
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
};

enum class FrameKind : std::uint8_t {
  data,
  attempt,  // a later attempt begins to write; what earlier ones wrote may be repeated
};
FF_NAMES(FrameKind, "data", "attempt");

struct Frame {
  std::uint64_t number = 0;  // dense, from 0, across attempts
  FrameKind kind{};
  std::uint32_t attempt = 0;
  TimePoint at;
  FrameType type;
  std::string bytes = {};
  std::string correlation = {};
  bool operator==(const Frame&) const = default;
};

struct StreamPage {
  std::vector<Frame> frames;
  std::uint64_t next = 0;  // `from` of the next page
  // The frames before this one are no longer kept, and some of them were asked for.
  std::optional<std::uint64_t> trimmed_to = {};
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
// those that are no longer kept. Waits up to `wait` for the first frame, or for the end of the flow.
struct ReadFlowStream {
  using Reply = FlowStreamPage;
  static constexpr OperationRow row{.owner = Owner::flow,
                                    .http = {HttpMethod::get, "/v1/flows/{id}/stream", Role::read,
                                             "Read the streams of a flow's nodes as one"}};
  FlowId id;
  std::string after = {};  // a place; empty: from the beginning
  std::uint32_t limit = 100;
  Millis wait{0};
};

}  // namespace ff
