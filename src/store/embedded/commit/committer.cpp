#include "store/embedded/commit/committer.hpp"

namespace ff::embedded {

Committer::Committer(Database& database, Fault& fault, const store::Sinks& sinks)
    : database_(database), fault_(fault), sinks_(sinks), thread_([this] { loop(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Committer::SyncNumber Committer::enqueue(Announcements announcements) {
  SyncNumber sync = 0;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(announcements));
    sync = begun_ + 1;
  }
  changed_.notify_one();
  return sync;
}

void Committer::enqueue_after(SyncNumber sync, Announcements announcements) {
  {
    const std::lock_guard lock(mutex_);
    auto& group = sync > begun_ ? waiting_ : following_;
    group.push_back(std::move(announcements));
  }
  changed_.notify_one();
}

void Committer::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty() || !following_.empty(); });
    if (waiting_.empty() && following_.empty()) return;
    // Those that follow the last fsync first: it has ended.
    const bool follows = !following_.empty();
    auto group = std::exchange(follows ? following_ : waiting_, {});
    if (!follows) ++begun_;
    lock.unlock();
    if (!follows) sync();
    release(std::move(group));
    lock.lock();
  }
}

void Committer::sync() {
  // After a fault the log is not touched again: RocksDB may abort when it syncs one that it could not
  // write, and a sync that works after one that failed proves nothing.
  if (fault_.get()) return;
  if (auto synced = database_.sync(); !synced) fault_.set(synced.error());
}

void Committer::release(std::vector<Announcements> group) {
  const Error* fault = fault_.get();
  for (auto& announcements : group) announcements.release(sinks_, fault);
}

}  // namespace ff::embedded
