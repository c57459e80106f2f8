// One call at the desk: what it reads and changes, and what its answer must wait for.
#pragma once

#include <string>
#include <vector>

#include "store/embedded/commit/batch_writer.hpp"

namespace ff::embedded {

class Turn {
 public:
  struct Terms {
    TimePoint now;
    bool waits;  // what it changes is answered only when it is on disk
  };

  Turn(BatchWriter& writer, Batch& batch, Terms terms)
      : writer_(writer), batch_(batch), terms_(terms) {}

  TimePoint now() const { return terms_.now; }

  // The database as it will be when the batch is written.
  Result<std::optional<std::string>> get(const std::string& key) const;
  void put(const std::string& key, std::string value);
  void erase(const std::string& key);

  // Only before the first change of this turn: it writes what others changed, and a turn is written as
  // a whole or not at all.
  Result<void> for_each(const Range& range, const Database::Visitor& visit);

  // The answer is based on a change of that batch.
  void see(BatchNumber durable_in) { based_on_unsynced_ |= !writer_.is_synced(durable_in); }
  bool must_wait() const { return based_on_unsynced_; }

  // The batch that must be synced before anybody hears of what this turn changes; 0: none.
  BatchNumber durable_in() const { return terms_.waits ? batch_.number : 0; }

  void tell(store::Opening opening) { openings_.push_back(std::move(opening)); }
  std::vector<store::Opening> take_openings() { return std::move(openings_); }

 private:
  void changed();

  BatchWriter& writer_;
  Batch& batch_;
  Terms terms_;
  bool changed_ = false;
  bool based_on_unsynced_ = false;
  std::vector<store::Opening> openings_;
};

}  // namespace ff::embedded
