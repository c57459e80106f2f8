#include "tests/support/await.hpp"

#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace ff::test {

void await(const std::string& what, const std::function<bool()>& is_so,
           std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error(fmt::format("waited {} ms in vain: {}", limit.count(), what));
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}

}  // namespace ff::test
