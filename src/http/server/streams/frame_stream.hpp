// The frames of a stream as server-sent events.
#pragma once

#include <flowfabric/engine.hpp>

#include "http/server/streams/sent_events.hpp"

namespace ff::http {

// Each event carries as `id` the number of the frame behind it: a client that reconnects sends the last one it
// received, and goes on there.
//   event: frame | attempt | trimmed | lost | snapshot | end
// The id of the end is `end`; begin() of a client that has seen it is empty.
class FrameStream final : public SentEvents {
 public:
  FrameStream(Engine& engine, ReadStream query) : engine_(engine), query_(std::move(query)) {}

  Async<std::string> begin() override;
  Async<std::string> next(Millis silence_max) override;
  bool is_over() const override { return is_over_; }

 private:
  Async<std::string> read(Millis wait);

  Engine& engine_;
  ReadStream query_;
  bool is_over_ = false;
};

inline constexpr std::string_view end_of_frames = "end";

}  // namespace ff::http
