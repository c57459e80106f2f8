// Effects: commands for other owners that a change causes. They are stored with their cause, carried out
// afterwards, and then settled. Each is safe to repeat, so a crash in between costs a repetition.
//
//   effect := 'release_token' SP quota SP token        an execution lost what it held of its quota
//           | 'forget_spending' SP budget SP execution  an execution is gone; its ledger entry goes, too
//           | 'advance_flow' SP flow                    nodes of a flow are still to be brought in line with it
//           | 'resolve_edges' SP execution SP turn      edges out of a node, likewise
//           | 'cancel_rest' SP execution SP run         nodes that a node started without
//           | 'expand_map' SP execution SP run SP input  items of a node's list are to be added
//           | 'collect_map' SP execution SP run SP items SP tolerated  their results are to be collected
//           | 'run_subflow' SP execution SP run SP turn  the flow that a node is has to do as the node demands
//           | 'end_subflow' SP execution SP run SP flow SP generation  it has ended, and so does the node
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/budgets/commands.hpp"
#include "core/execution/execution.hpp"
#include "core/flows/commands.hpp"
#include "core/quotas/commands.hpp"

namespace ff::core {

using Effect = std::variant<ReleaseToken, ForgetSpending, AdvanceFlow, ResolveEdges, CancelRest,
                            ExpandMap, CollectMap, RunSubflow, EndSubflow>;

// An effect is stored as its text; the text is its identity.
std::string to_text(const Effect& effect);
// None if a newer version wrote it, which is left alone.
std::optional<Effect> effect_from(std::string_view text);

// Of a change of an execution. `after` is null if it is removed.
std::vector<Effect> effects_of(const Execution& before, const Execution* after);

}  // namespace ff::core
