#include "cli/output/listing.hpp"

#include <map>
#include <set>

namespace ff::cli {

std::string counts_table(const StateCounts& counts, const Screen& screen) {
  std::set<ExecutionState> states;
  std::map<std::string, std::uint64_t> reclaimable;  // active without a worker
  std::map<std::string, std::map<ExecutionState, std::uint64_t>> lanes;
  for (const auto& count : counts.counts) {
    states.insert(count.state);
    lanes[count.lane.str()][count.state] = count.count;
    if (count.reclaimable > 0) reclaimable[count.lane.str()] = count.reclaimable;
  }
  std::vector<Column> columns{{.title = "lane"}};
  const auto add_number_column = [&](std::string_view title) {
    columns.push_back(
        {.title = std::string(title), .fit = Column::Fit::keep, .align = Column::Align::right});
  };
  for (const auto state : states) add_number_column(to_string(state));
  add_number_column("all");
  if (!reclaimable.empty()) add_number_column("reclaimable");

  Table table(std::move(columns));
  std::set<std::string> paused;
  for (const auto& lane : counts.paused_lanes) paused.insert(lane.str());
  for (const auto& [lane, by_state] : lanes) {
    std::vector<Cell> row{paused.contains(lane) ? Cell{lane + " (paused)", Colour::yellow} : Cell{lane}};
    std::uint64_t all = 0;
    for (const auto state : states) {
      const auto found = by_state.find(state);
      const auto count = found == by_state.end() ? 0 : found->second;
      all += count;
      row.push_back({std::to_string(count), count > 0 ? colour_of(to_string(state)) : Colour::dim});
    }
    row.push_back({std::to_string(all)});
    if (!reclaimable.empty()) {
      const auto found = reclaimable.find(lane);
      const auto count = found == reclaimable.end() ? 0 : found->second;
      row.push_back({std::to_string(count), count > 0 ? Colour::red : Colour::dim});
    }
    table.add(std::move(row));
  }
  return table.str(screen);
}

}  // namespace ff::cli
