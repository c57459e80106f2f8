// Makes written batches durable: one fsync for everything that waits, while the shards go on applying.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "store/embedded/commit/batch.hpp"
#include "store/embedded/commit/fault.hpp"

namespace ff::embedded {

class Committer {
 public:
  Committer(Database& database, Fault& fault, const store::Sinks& sinks);
  ~Committer();  // syncs and releases what is still there

  using SyncNumber = std::uint64_t;

  // Releases the announcements after the next fsync that begins from now on, which has the returned number.
  SyncNumber enqueue(Announcements announcements);

  // Releases announcements that are based on nothing later than what that fsync covers: after it, and after
  // everything that was enqueued for it.
  void enqueue_after(SyncNumber sync, Announcements announcements);

 private:
  void loop();
  void sync();
  void release(std::vector<Announcements> group);

  Database& database_;
  Fault& fault_;
  const store::Sinks& sinks_;

  std::mutex mutex_;
  std::condition_variable changed_;
  SyncNumber begun_ = 0;
  std::vector<Announcements> waiting_;    // for the next fsync
  std::vector<Announcements> following_;  // for the end of the last one that began
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace ff::embedded
