// How far long work is, in one line on standard error; nothing unless that is a terminal.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "cli/output/screen.hpp"

namespace ff::cli {

class Progress {
 public:
  // A total of 0 is unknown: only a number is shown then.
  Progress(std::string what, std::uint64_t total);
  ~Progress();  // takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void add(std::uint64_t count);  // from any thread

 private:
  void draw(std::uint64_t done);

  const std::string what_;
  const std::uint64_t total_;
  const Screen screen_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::chrono::steady_clock::rep> draw_next_ = 0;
};

// The line itself, `width` characters at most.
std::string progress_line(const std::string& what, std::uint64_t done, std::uint64_t total,
                          std::size_t width);

}  // namespace ff::cli
