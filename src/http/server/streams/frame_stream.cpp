#include "http/server/streams/frame_stream.hpp"

#include "base/try.hpp"
#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

std::string text_of(const StreamPage& page) {
  std::string text;
  if (page.trimmed_to)
    text +=
        fmt::format("id: {0}\nevent: trimmed\ndata: {{\"trimmed_to\":{0}}}\n\n", *page.trimmed_to);
  if (page.lost_from)
    text += fmt::format("id: {0}\nevent: lost\ndata: {{\"lost_from\":{0}}}\n\n", *page.lost_from);
  if (page.snapshot)
    text += fmt::format("id: {}\nevent: snapshot\ndata: {}\n\n", page.next,
                        json::serialize(to_fields(*page.snapshot)));
  for (const auto& frame : page.frames)
    text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", frame.number + 1,
                        frame.kind == FrameKind::data ? "frame" : to_string(frame.kind),
                        json::serialize(to_fields(frame)));
  if (page.end)
    text += fmt::format("id: {}\nevent: end\ndata: {{\"end\":\"{}\"}}\n\n", end_of_frames,
                        to_string(*page.end));
  return text;
}

}  // namespace

Async<std::string> FrameStream::next(Millis silence_max, std::size_t bytes_max) {
  query_.wait = silence_max;
  query_.bytes_max = bytes_max;
  from_before_ = query_.from;
  ReadStream query = query_;
  const auto page = co_await engine_.run(std::move(query));
  FF_CO_TRY(page);
  query_.from = page->next;
  is_over_ = page->end.has_value();
  auto text = text_of(*page);
  if (text.empty()) text = std::string(still_here);
  co_return text;
}

void FrameStream::step_back() {
  query_.from = from_before_;
  is_over_ = false;
}

}  // namespace ff::http
