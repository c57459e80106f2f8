#include "store/embedded/resources/turn.hpp"

#include "base/assert.hpp"

namespace ff::embedded {

Result<std::optional<std::string>> Turn::get(const std::string& key) const {
  if (const auto fresh = batch_.unwritten.find(key); fresh != batch_.unwritten.end())
    return fresh->second;
  return writer_.database().get(key);
}

void Turn::put(const std::string& key, std::string value) {
  changed();
  batch_.changes.put(key, value);
  batch_.unwritten[key] = std::move(value);
}

void Turn::erase(const std::string& key) {
  changed();
  batch_.changes.erase(key);
  batch_.unwritten[key] = std::nullopt;
}

Result<void> Turn::for_each(const Range& range, const Database::Visitor& visit) {
  FF_ASSERT(!changed_);
  if (auto written = writer_.write(batch_); !written) return written;
  return writer_.database().for_each(range, visit);
}

void Turn::changed() {
  changed_ = true;
  batch_.must_sync |= terms_.waits;
  based_on_unsynced_ |= terms_.waits;
}

}  // namespace ff::embedded
