#include "store/embedded/committer.hpp"

namespace ff::embedded {

Committer::Committer(Database& database, Fault& fault, const store::EventSink& sink)
    : database_(database), fault_(fault), sink_(sink), thread_([this] { loop(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

Committer::Ticket Committer::enqueue(Announcements announcements) {
  Ticket ticket;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(announcements));
    ticket = ++last_ticket_;
  }
  changed_.notify_one();
  return ticket;
}

void Committer::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto group = std::exchange(waiting_, {});
    const Ticket last = last_ticket_;
    lock.unlock();
    commit(std::move(group), last);
    lock.lock();
  }
}

void Committer::commit(std::vector<Announcements> group, Ticket last) {
  if (auto synced = database_.sync(); !synced) fault_.set(synced.error());
  const Error* fault = fault_.get();
  if (!fault) synced_through_.store(last, std::memory_order_release);
  for (auto& announcements : group) announcements.release(sink_, fault);
}

}  // namespace ff::embedded
