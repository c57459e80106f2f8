#include "engine/streams/frame_notices.hpp"

#include <utility>

namespace ff {

FrameNotices::Follower::Follower(FrameNotices& notices, PartitionIndex partition)
    : notices_(notices), partition_(partition) {
  const std::lock_guard lock(notices_.mutex_);
  auto& all = notices_.followers_[partition_];
  position_ = all.insert(all.end(), this);
}

FrameNotices::Follower::~Follower() {
  const std::lock_guard lock(notices_.mutex_);
  const auto all = notices_.followers_.find(partition_);
  all->second.erase(position_);
  if (all->second.empty()) notices_.followers_.erase(all);
}

FrameNotices::Follower::Taken FrameNotices::Follower::take() {
  const std::lock_guard lock(notices_.mutex_);
  return std::exchange(noted_, {});
}

void FrameNotices::Follower::wake(Wakeup* wakeup) {
  const std::lock_guard lock(notices_.mutex_);
  wakeup_ = wakeup;
}

void FrameNotices::Follower::note(const ExecutionId& id) {
  if (noted_.executions.size() < executions_max)
    noted_.executions.insert(id);
  else
    noted_.missed = noted_.missed || !noted_.executions.contains(id);
  if (wakeup_) wakeup_->wake();
}

void FrameNotices::note(const ExecutionId& id) {
  const std::lock_guard lock(mutex_);
  const auto all = followers_.find(id.partition());
  if (all == followers_.end()) return;
  for (Follower* follower : all->second) follower->note(id);
}

void FrameNotices::note_gap() {
  const std::lock_guard lock(mutex_);
  for (const auto& [partition, all] : followers_)
    for (Follower* follower : all) {
      follower->noted_.missed = true;
      if (follower->wakeup_) follower->wakeup_->wake();
    }
}

}  // namespace ff
