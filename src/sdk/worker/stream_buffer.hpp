// The frames of a stream that are to be sent.
#pragma once

#include <flowfabric/stream_writer.hpp>

#include <condition_variable>
#include <mutex>

#include "base/async/wakeup.hpp"
#include "sdk/worker/task_context.hpp"

namespace ff {

// One call is under way at a time; what is written meanwhile goes with the next. Thread-safe.
class StreamWriter::Buffer : public std::enable_shared_from_this<Buffer> {
 public:
  // `next` has no frames yet; its `written` is what the attempt has appended before, and `text` the bytes of that.
  Buffer(std::shared_ptr<Task::Context> context, AppendFrames next, std::string text = {});

  void add(NewFrame frame, const Amounts& usage);
  void flush();  // waits; throws what sending failed with
  std::string text() const;

 private:
  static constexpr std::size_t frames_at_once = 64;
  static constexpr std::size_t bytes_at_once = 16 * 1024;
  static constexpr std::size_t bytes_waiting_max = 256 * 1024;
  static constexpr Millis gather_time{20};

  asio::awaitable<void> send_all();
  Async<AppendReply> send(AppendFrames append);
  void note(const AppendReply& reply);
  bool is_enough() const;
  void throw_if_failed() const;
  void throw_if_cancelled() const;
  void remember(const std::string& bytes);

  std::shared_ptr<Task::Context> context_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  AppendFrames next_;  // with the frames that wait
  std::size_t bytes_ = 0;
  std::string text_;  // everything that was written, up to what a result may have
  bool is_too_much_ = false;  // there was more
  bool is_sending_ = false;
  std::optional<Error> failed_ = {};
  Wakeup enough_;
};

}  // namespace ff
