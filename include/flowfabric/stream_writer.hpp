// A stream that a handler writes to while it runs.
#pragma once

#include <flowfabric/streams.hpp>

#include <memory>
#include <string>

namespace ff {

struct StreamOptions {
  StreamClass durability = StreamClass::buffered;
  StreamFull when_full = StreamFull::trim;
  StreamKind kind = StreamKind::frames;
};

// Frames are sent together: 20 ms after the first of them, or as soon as there are 64 of them or 16 KiB. The worker
// sends the last ones before the attempt ends. Made by Task::stream(); its members may be called from any thread.
class StreamWriter {
 public:
  // Waits only if the engine falls behind. Throws, for this frame or an earlier one: TaskCancelled if the task is
  // cancelled or its lease lost, a TaskFailure if the engine refused it.
  void write(std::string bytes, std::string_view type = {}) { write(std::move(bytes), type, {}); }

  // The same with what the frame has cost, such as {"tokens", 3}: reported to each budget of the execution. If a
  // budget ends the attempt for it, a later call throws TaskCancelled.
  void write(std::string bytes, std::string_view type, const Amounts& usage);

  // Returns when everything that was written is sent. Throws as write() does.
  void flush();

  // Everything that this attempt wrote, for a handler that returns it as its result. Throws a TaskFailure if that is
  // more than a result may have.
  std::string as_result();

  class Buffer;
  explicit StreamWriter(std::shared_ptr<Buffer> buffer) : buffer_(std::move(buffer)) {}

 private:
  std::shared_ptr<Buffer> buffer_;
};

}  // namespace ff
