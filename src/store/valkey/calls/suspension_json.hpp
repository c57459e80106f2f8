// Conditions and questions as they stand in Valkey: JSON, whose grammar is in lua/lib/conditions.lua.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/suspensions/condition.hpp"

namespace ff::valkey_store {

std::string to_json(const Condition& condition);
std::string to_json(const Question& question);

// A condition, and how much has counted for each of its parts. What has counted is not told, only how much.
struct Progressed {
  Condition condition;
  core::Tally tally;
};
// `sizes` are those of conditions.sizes. A plain condition of the contract becomes the condition that is most like
// it. None if the text is none that FlowFabric writes.
std::optional<Progressed> read_condition(std::string_view text,
                                         const std::vector<std::size_t>& sizes);
std::optional<Question> read_question(std::string_view text);

}  // namespace ff::valkey_store
