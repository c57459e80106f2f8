#include "http/server/streams/flow_frame_stream.hpp"

#include "base/try.hpp"
#include "http/server/streams/frame_stream.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

Async<std::string> FlowFrameStream::next(Millis silence_max, std::size_t bytes_max) {
  query_.wait = silence_max;
  query_.bytes_max = bytes_max;
  after_before_ = query_.after;
  ReadFlowStream query = query_;
  const auto page = co_await engine_.run(std::move(query));
  FF_CO_TRY(page);
  query_.after = page->next;
  std::string text;
  for (const auto& each : page->frames)
    text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", each.place,
                        each.frame.kind == FrameKind::data ? "frame" : to_string(each.frame.kind),
                        json::serialize(to_fields(each)));
  if (page->end) {
    is_over_ = true;
    text += fmt::format("id: {}\nevent: end\ndata: {{\"end\":\"{}\"}}\n\n", end_of_frames,
                        to_string(*page->end));
  }
  // An id without an event is a place to come back to all the same.
  if (text.empty()) text = fmt::format(": still here\nid: {}\n\n", query_.after);
  co_return text;
}

void FlowFrameStream::step_back() {
  query_.after = after_before_;
  is_over_ = false;
}

}  // namespace ff::http
