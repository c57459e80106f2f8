#include "cli/output/table.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace ff::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t column_width_min = 4;

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string cut(std::string_view text, std::size_t width) {
  if (characters(text) <= width) return std::string(text);
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes)
    if (begins_character(text[bytes]) && ++seen == width) break;
  return std::string(text.substr(0, bytes)) + "…";
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  FF_ASSERT(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::widths(std::size_t available) const {
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = characters(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, characters(row[i].text));
    widths.push_back(width);
    total += width + (i > 0 ? gap : 0);
  }
  for (auto i = columns_.size(); i-- > 0 && total > available;) {
    if (columns_[i].fit != Column::Fit::drop) continue;
    total -= std::exchange(widths[i], 0) + gap;
  }
  while (total > available) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool may_shrink = columns_[i].fit == Column::Fit::cut && widths[i] > column_width_min;
      if (may_shrink && (!widest || widths[i] > *widest)) widest = &widths[i];
    }
    if (!widest) break;
    --*widest;
    --total;
  }
  return widths;
}

std::string Table::str(const Screen& screen) const {
  const auto width = widths(screen.width);
  std::string text;
  const auto add_line = [&](const std::vector<Cell>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (width[i] == 0) continue;
      const auto shown = cut(cells[i].text, width[i]);
      const std::string fill(width[i] - characters(shown), ' ');
      const auto painted = screen.colours ? coloured(shown, cells[i].colour) : shown;
      if (!line.empty()) line.append(gap, ' ');
      line += columns_[i].align == Column::Align::right ? fill + painted : painted + fill;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  std::vector<Cell> titles;
  for (const auto& column : columns_) titles.push_back({column.title, Colour::bold});
  add_line(titles);
  for (const auto& row : rows_) add_line(row);
  return text;
}

}  // namespace ff::cli
