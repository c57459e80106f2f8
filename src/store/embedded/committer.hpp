// Makes written batches durable: one fsync for everything that waits, while the shards go on applying.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "store/embedded/batch.hpp"
#include "store/embedded/fault.hpp"

namespace ff::embedded {

class Committer {
 public:
  using Ticket = std::uint64_t;  // numbers what was enqueued, from 1

  Committer(Database& database, Fault& fault, const store::EventSink& sink);
  ~Committer();  // syncs and releases what is still there

  // Releases the announcements after the next fsync that begins from now on.
  Ticket enqueue(Announcements announcements);

  // Everything up to and with this ticket is on disk.
  Ticket synced_through() const { return synced_through_.load(std::memory_order_acquire); }

 private:
  void loop();
  void commit(std::vector<Announcements> group, Ticket last);

  Database& database_;
  Fault& fault_;
  const store::EventSink& sink_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Announcements> waiting_;
  Ticket last_ticket_ = 0;
  bool stopping_ = false;

  std::atomic<Ticket> synced_through_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace ff::embedded
