// Changes to an execution that do not touch its run: priority and tags.
#include "core/execution/fence.hpp"
#include "core/refusals.hpp"
#include "core/transitions/transitions.hpp"

namespace ff::core {

Decision<ChangePriority> apply(const Execution& execution, const ChangePriority& command,
                               TimePoint) {
  if (has_ended(execution))
    return refusals::priority_after_end(execution.id, public_state(execution));
  const PriorityReply reply{.before = execution.priority, .after = command.priority};
  if (reply.before == reply.after) return Step<PriorityReply>{.reply = reply};
  Execution next = execution;
  next.priority = command.priority;
  return Step<PriorityReply>{
      .reply = reply, .next = std::move(next), .event = EventType::priority_changed};
}

Decision<SetTags> apply(const Execution& execution, SetTags command, TimePoint) {
  Execution next = execution;
  for (auto& [key, value] : command.set) next.tags[key] = std::move(value);
  for (const auto& key : command.remove) next.tags.erase(key);
  if (next.tags.size() > limits::tags_max)
    return refusals::too_many_tags(execution.id, next.tags.size());
  TagsReply reply{next.tags};
  if (next.tags == execution.tags) return Step<TagsReply>{.reply = std::move(reply)};
  return Step<TagsReply>{
      .reply = std::move(reply), .next = std::move(next), .event = EventType::tags_changed};
}

}  // namespace ff::core
