// Executions and counts in tables.
#pragma once

#include <array>

#include "cli/output/output.hpp"

namespace ff::cli {

inline constexpr std::array execution_columns{FieldColumn{"id", Column::Fit::keep},
                                              FieldColumn{"state", Column::Fit::keep},
                                              FieldColumn{"lane"},
                                              FieldColumn{"kind"},
                                              FieldColumn{"attempts", Column::Fit::drop},
                                              FieldColumn{"created_at_ms", Column::Fit::drop},
                                              FieldColumn{"priority", Column::Fit::drop}};

inline constexpr const char* state_choices =
    "waiting|delayed|waiting_children|active|suspended|completed|failed|cancelled|expired|"
    "rate_limited|skipped";

// A row per lane, a column per state that occurs. If any worker lost its lease: how many of the active
// executions no worker holds.
std::string counts_table(const StateCounts& counts, const Screen& screen);

}  // namespace ff::cli
