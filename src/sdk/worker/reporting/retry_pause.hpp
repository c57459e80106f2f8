// How long to pause before trying again.
#pragma once

#include <flowfabric/time.hpp>

#include "base/random.hpp"

namespace ff {

// Twice as long each time, from `min` to `max`, and of that a random part of at least half, so that
// those who were thrown out together do not come back in step.
class RetryPause {
 public:
  RetryPause(Random& random, Millis min, Millis max)
      : random_(random), min_(min), max_(max), next_(min) {}

  Millis next();
  void reset() { next_ = min_; }

 private:
  Random& random_;
  Millis min_;
  Millis max_;
  Millis next_;
};

}  // namespace ff
