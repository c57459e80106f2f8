// Text on a terminal that is drawn again in the same place.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace ff::cli {

class LiveArea {
 public:
  void draw(const std::string& text) {
    if (lines_ > 0) fmt::print("\x1b[{}F\x1b[J", lines_);
    fmt::print("{}", text);
    std::fflush(stdout);
    lines_ = std::ranges::count(text, '\n');
  }

 private:
  std::ptrdiff_t lines_ = 0;
};

}  // namespace ff::cli
