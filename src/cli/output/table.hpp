// Rows and columns of text, cut to fit a width.
#pragma once

#include <string>
#include <vector>

#include "cli/output/screen.hpp"

namespace ff::cli {

struct Column {
  enum class Fit { cut, keep, drop };  // when the screen is too narrow
  enum class Align { left, right };
  std::string title;
  Fit fit = Fit::cut;
  Align align = Align::left;
};

struct Cell {
  std::string text;
  Colour colour = Colour::none;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add(std::vector<Cell> row);

  // A line of titles and a line per row, two blanks between columns. Where that is too wide, columns
  // that may be dropped are, from the right; then the widest are cut: a cut cell ends in '…'.
  std::string str(const Screen& screen) const;

 private:
  // Of each column; 0 for one that is dropped.
  std::vector<std::size_t> widths(std::size_t available) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace ff::cli
