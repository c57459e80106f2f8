// The frames of all nodes of a flow as server-sent events.
#pragma once

#include <flowfabric/engine.hpp>

#include "http/server/streams/sent_events.hpp"

namespace ff::http {

// Each event carries as `id` the place behind its frame: a client that reconnects sends the last one it received, and
// goes on there.
//   event: frame | attempt | end
// The id of the end is `end`.
class FlowFrameStream final : public SentEvents {
 public:
  FlowFrameStream(Engine& engine, ReadFlowStream query)
      : engine_(engine), query_(std::move(query)) {}

  Async<std::string> begin(std::size_t bytes_max) override { return next(Millis{0}, bytes_max); }
  Async<std::string> next(Millis silence_max, std::size_t bytes_max) override;
  void step_back() override;
  bool is_over() const override { return is_over_; }

 private:
  Engine& engine_;
  ReadFlowStream query_;
  std::string after_before_;  // the last call
  bool is_over_ = false;
};

}  // namespace ff::http
