#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace ff {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "FlowFabric stopped: a bug broke \"%s\" at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace ff
