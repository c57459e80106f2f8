// Fuzzing: each target takes any bytes, and must neither crash nor break what it promises. Under clang they
// are run by libFuzzer (./test --long); in every build, by replay.cpp on the files of their corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ff::fuzz {

// Ends the program, which is how a fuzzer is told.
inline void expect(bool held, const char* promise) {
  if (held) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The first byte chooses among `count`; the rest is the input.
inline std::size_t choose(std::string_view& input, std::size_t count) {
  if (input.empty()) return 0;
  const auto choice = static_cast<unsigned char>(input.front()) % count;
  input.remove_prefix(1);
  return choice;
}

}  // namespace ff::fuzz
