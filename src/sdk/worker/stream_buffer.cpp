#include "sdk/worker/stream_buffer.hpp"

#include <charconv>

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "sdk/worker/task_call.hpp"
#include "sdk/worker/task_run.hpp"

namespace ff {
namespace {

// The frames of the attempt that the engine acknowledged and does not have, as its refusal says; 0: none.
std::uint64_t lost_of(const AppendFrames& append, const Error& refusal) {
  if (refusal.code != Errc::stream_sequence_gap || append.lost > 0) return 0;
  for (const auto& detail : refusal.details) {
    const auto& value = detail.value;
    std::uint64_t stored = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), stored);
    const bool is_number = read.ec == std::errc{} && read.ptr == value.data() + value.size();
    if (detail.name == "written" && is_number && stored < append.written)
      return append.written - stored;
  }
  return 0;
}

}  // namespace

StreamWriter::Buffer::Buffer(std::shared_ptr<Task::Context> context, AppendFrames next,
                             std::string text)
    : context_(std::move(context)),
      next_(std::move(next)),
      enough_(context_->engine().executor()) {
  remember(text);
}

void StreamWriter::Buffer::remember(const std::string& bytes) {
  is_too_much_ = is_too_much_ || text_.size() + bytes.size() > limits::result_bytes_max;
  if (is_too_much_)
    text_ = {};
  else
    text_ += bytes;
}

std::string StreamWriter::Buffer::text() const {
  const std::lock_guard lock(mutex_);
  if (is_too_much_)
    fail_for_good(fmt::format("what was written to the stream is more than the {} bytes of a result",
                              limits::result_bytes_max));
  return text_;
}

bool StreamWriter::Buffer::is_enough() const {
  return next_.frames.size() >= frames_at_once || bytes_ >= bytes_at_once;
}

void StreamWriter::Buffer::throw_if_failed() const {
  if (!failed_) return;
  if (const auto loss = lease_loss(*failed_)) {
    context_->cancel(*loss);
    throw TaskCancelled(*context_->cancelled());
  }
  if (failed_->retryable()) throw Exception(*failed_);
  fail_for_good(failed_->message);
}

// A worker that stops lets its handlers finish, and what they still write is sent.
void StreamWriter::Buffer::throw_if_cancelled() const {
  const auto reason = context_->cancelled();
  if (reason && *reason != CancelReason::worker_stopping) throw TaskCancelled(*reason);
}

void StreamWriter::Buffer::add(NewFrame frame, const Amounts& usage) {
  throw_if_cancelled();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failed_ || bytes_ < bytes_waiting_max; });
  throw_if_failed();
  for (const auto& [dimension, amount] : usage) next_.usage[dimension] += amount;
  bytes_ += frame.bytes.size() + sizeof(NewFrame);
  remember(frame.bytes);
  next_.frames.push_back(std::move(frame));
  if (is_enough()) enough_.wake();
  if (std::exchange(is_sending_, true)) return;
  asio::co_spawn(
      context_->engine().executor(), [self = shared_from_this()] { return self->send_all(); },
      asio::detached);
}

void StreamWriter::Buffer::flush() {
  std::unique_lock lock(mutex_);
  enough_.wake();
  changed_.wait(lock, [&] { return failed_ || !is_sending_; });
  throw_if_failed();
}

// Until there is nothing left. A call that failed for want of an answer is repeated: the engine knows its frames.
asio::awaitable<void> StreamWriter::Buffer::send_all() {
  const auto self = shared_from_this();
  co_await enough_.wait_until(std::chrono::steady_clock::now() + gather_time);
  while (true) {
    AppendFrames append;
    {
      const std::lock_guard lock(mutex_);
      if (next_.frames.empty() || failed_) {
        is_sending_ = false;
        changed_.notify_all();
        co_return;
      }
      append = next_;
      next_.frames.clear();
      next_.usage.clear();
      bytes_ = 0;
      if (append.frames.size() > limits::append_frames_max) {
        const auto rest = append.frames.begin() + limits::append_frames_max;
        next_.frames.assign(std::move_iterator(rest), std::move_iterator(append.frames.end()));
        append.frames.resize(limits::append_frames_max);
      }
      next_.written += append.frames.size();
    }
    changed_.notify_all();
    auto reply = co_await send(append);
    if (reply) {
      note(*reply);
      continue;
    }
    const std::lock_guard lock(mutex_);
    failed_ = std::move(reply.error());
  }
}

// A budget may have ended the attempt for what its frames cost.
void StreamWriter::Buffer::note(const AppendReply& reply) {
  if (reply.action && ends_attempt(*reply.action)) context_->cancel(CancelReason::budget_exceeded);
}

Async<AppendReply> StreamWriter::Buffer::send(AppendFrames append) {
  const auto until = std::chrono::steady_clock::now() + resend_limit;
  SystemRandom random;
  RetryPause pause(random, Millis{50}, Millis{2000});
  Wakeup never(context_->engine().executor());
  while (true) {
    AppendFrames copy = append;
    auto reply = co_await context_->engine().run(std::move(copy));
    if (reply) co_return reply;
    append.lost = lost_of(append, reply.error());
    if (append.lost > 0) continue;
    if (!reply.error().retryable()) co_return reply;
    const auto next_try = std::chrono::steady_clock::now() + pause.next();
    if (next_try > until) co_return reply;
    co_await never.wait_until(next_try);
  }
}

void StreamWriter::write(std::string bytes, std::string_view type, const Amounts& usage) {
  NewFrame frame{.bytes = std::move(bytes)};
  if (!type.empty()) frame.type = or_fail(FrameType::parse(std::string(type)));
  buffer_->add(std::move(frame), usage);
}

void StreamWriter::flush() { buffer_->flush(); }

std::string StreamWriter::as_result() { return buffer_->text(); }

// ---- Of a task ------------------------------------------------------------------------------------

namespace {

// The text that this attempt wrote before it paused, without trimmed frames.
std::string text_of_attempt(Task::Context& context, const AppendFrames& next,
                            std::uint32_t attempt) {
  std::string text;
  ReadStream read{.id = next.id, .stream = next.stream, .limit = limits::stream_page_max};
  while (true) {
    const auto page = call(context, read);
    for (const auto& frame : page.frames)
      if (frame.kind == FrameKind::data && frame.attempt == attempt) text += frame.bytes;
    if (page.frames.empty()) return text;
    read.from = page.next;
  }
}

}  // namespace

StreamWriter Task::stream(std::string_view name, StreamOptions options) {
  const auto stream = or_fail(StreamName::parse(std::string(name)));
  const std::lock_guard lock(run_->mutex);
  auto& buffer = run_->streams[stream];
  if (!buffer) {
    AppendFrames next{.id = claimed_.id,
                      .stream = stream,
                      .fence = claimed_.fence,
                      .frames = {},
                      .durability = options.durability,
                      .when_full = options.when_full,
                      .kind = options.kind};
    // An attempt that paused before has perhaps written before.
    if (claimed_.resumed)
      for (const auto& known : call(*context_, ListStreams{claimed_.id}).streams)
        if (known.name == stream && known.attempt == claimed_.attempt_index)
          next.written = known.written;
    std::string text;
    if (next.written > 0) text = text_of_attempt(*context_, next, claimed_.attempt_index);
    buffer =
        std::make_shared<StreamWriter::Buffer>(context_, std::move(next), std::move(text));
  }
  return StreamWriter(buffer);
}

void Task::Run::flush_streams() {
  for (const auto& [name, buffer] : streams) buffer->flush();
}

}  // namespace ff
