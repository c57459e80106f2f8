#include "cli/output/progress.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace ff::cli {
namespace {

using Steady = std::chrono::steady_clock;

constexpr auto draw_interval = std::chrono::milliseconds{100};
constexpr std::size_t bar_width_max = 40;

}  // namespace

std::string progress_line(const std::string& what, std::uint64_t done, std::uint64_t total,
                          std::size_t width) {
  if (total == 0) return fmt::format("{}  {}", what, done).substr(0, width);
  done = std::min(done, total);
  const auto numbers = fmt::format("  {}/{} {:>3}%", done, total, done * 100 / total);
  const auto around = what.size() + numbers.size() + 4;
  if (around >= width) return (what + numbers).substr(0, width);
  const auto bar = std::min(width - around, bar_width_max);
  const auto full = static_cast<std::size_t>(done * bar / total);
  return fmt::format("{}  [{}{}]{}", what, std::string(full, '#'), std::string(bar - full, '.'),
                     numbers);
}

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)), total_(total), screen_(screen_of(STDERR_FILENO)) {
  if (screen_.terminal) draw(0);
}

Progress::~Progress() {
  if (screen_.terminal) fmt::print(stderr, "\r\x1b[K");
}

void Progress::add(std::uint64_t count) {
  const auto done = done_ += count;
  if (!screen_.terminal) return;
  // One thread draws, those that come at the same time go on.
  const auto now = Steady::now();
  auto next = draw_next_.load();
  const auto after = (now + draw_interval).time_since_epoch().count();
  if (now.time_since_epoch().count() >= next && draw_next_.compare_exchange_strong(next, after))
    draw(done);
}

void Progress::draw(std::uint64_t done) {
  fmt::print(stderr, "\r{}\x1b[K", progress_line(what_, done, total_, screen_.width));
}

}  // namespace ff::cli
