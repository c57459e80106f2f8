// Waiting for what another thread or process does.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace ff::test {

// Asks every few milliseconds until it is so; throws after `limit`.
void await(const std::string& what, const std::function<bool()>& is_so,
           std::chrono::milliseconds limit = std::chrono::seconds{10});

}  // namespace ff::test
