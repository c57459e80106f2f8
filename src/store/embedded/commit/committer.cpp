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

void Committer::enqueue(Announcements announcements) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(announcements));
  }
  changed_.notify_one();
}

void Committer::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto group = std::exchange(waiting_, {});
    lock.unlock();
    commit(std::move(group));
    lock.lock();
  }
}

void Committer::commit(std::vector<Announcements> group) {
  // After a fault the log is not touched again: RocksDB may abort when it syncs one that it could not
  // write, and a sync that works after one that failed proves nothing.
  if (!fault_.get())
    if (auto synced = database_.sync(); !synced) fault_.set(synced.error());
  const Error* fault = fault_.get();
  for (auto& announcements : group) announcements.release(sinks_, fault);
}

}  // namespace ff::embedded
