#include "tests/crash/journal.hpp"

#include <cstdlib>

#include <unistd.h>

namespace ff::crash {

void Journal::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (::write(pipe_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

}  // namespace ff::crash
