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

  // Releases the announcements after the next fsync that begins from now on.
  void enqueue(Announcements announcements);

 private:
  void loop();
  void commit(std::vector<Announcements> group);

  Database& database_;
  Fault& fault_;
  const store::Sinks& sinks_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Announcements> waiting_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace ff::embedded
