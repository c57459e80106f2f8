// The frames of a stream as server-sent events.
#pragma once

#include <flowfabric/engine.hpp>

#include "http/server/streams/sent_events.hpp"

namespace ff::http {

// Each event carries as `id` the number of the frame behind it: a client that reconnects sends the last one it
// received, and goes on there.
//   event: frame | attempt | trimmed | lost | snapshot | end
// The id of the end is `end`.
class FrameStream final : public SentEvents {
 public:
  FrameStream(Engine& engine, ReadStream query) : engine_(engine), query_(std::move(query)) {}

  Async<std::string> begin(std::size_t bytes_max) override { return next(Millis{0}, bytes_max); }
  Async<std::string> next(Millis silence_max, std::size_t bytes_max) override;
  void step_back() override;
  bool is_over() const override { return is_over_; }

 private:
  Engine& engine_;
  ReadStream query_;
  std::uint64_t from_before_ = 0;  // the last call
  bool is_over_ = false;
};

inline constexpr std::string_view end_of_frames = "end";

}  // namespace ff::http
