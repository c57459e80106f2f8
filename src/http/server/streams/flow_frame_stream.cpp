#include "http/server/streams/flow_frame_stream.hpp"

#include "base/try.hpp"
#include "http/server/streams/frame_stream.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {

Async<std::string> FlowFrameStream::next(Millis silence_max) {
  query_.wait = silence_max;
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
  if (text.empty()) text = std::string(still_here);
  co_return text;
}

}  // namespace ff::http
