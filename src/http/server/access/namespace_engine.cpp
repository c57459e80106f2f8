#include "http/server/access/namespace_engine.hpp"

#include <set>

#include <fmt/format.h>

#include "base/try.hpp"
#include "core/refusals.hpp"
#include "core/validation/validate.hpp"
#include "http/wire/endpoints.hpp"

namespace ff::http {
namespace {

template <class Op>
concept NamesExecution = requires(Op operation) {
  { operation.id } -> std::same_as<ExecutionId&>;
};
template <class Op>
concept NamesBudget = requires(Op operation) {
  { operation.id } -> std::same_as<BudgetId&>;
};
template <class Op>
concept NamesQuota = requires(Op operation) {
  { operation.id } -> std::same_as<QuotaId&>;
};
template <class Op>
concept NamesFlow = requires(Op operation) {
  { operation.id } -> std::same_as<FlowId&>;
};

}  // namespace

NamespaceEngine::NamespaceEngine(Engine& engine, Namespace ns)
    : engine_(engine), ns_(std::move(ns)) {}

NamespaceEngine::~NamespaceEngine() = default;

Result<void> NamespaceEngine::own(const Namespace& ns) const {
  if (ns == ns_) return {};
  return fail_field(
      Errc::permission_denied, "namespace",
      fmt::format("this token is for namespace '{}', not for '{}'", ns_.str(), ns.str()));
}

// Other tenants' objects look absent.
template <class Get>
Async<void> NamespaceEngine::find_own(Get get) {
  const auto found = co_await engine_.run(get);
  FF_CO_TRY(found);
  if (found->ns != ns_) co_return core::refusals::not_found(get.id);
  co_return Result<void>{};
}

template <class Get>
Async<void> NamespaceEngine::own_or_absent(Get get) {
  const auto found = co_await engine_.run(get);
  if (found && found->ns != ns_) co_return core::refusals::not_found(get.id);
  const bool absent = !found && info(found.error().code).http_status == 404;
  if (!found && !absent) co_return std::unexpected(found.error());
  co_return Result<void>{};
}

// Budgets and quotas of other tenants cannot be used.
Async<void> NamespaceEngine::own_needs(Policy policy) {
  for (const auto& id : policy.budgets) {
    const GetBudget get{id};
    if (auto owned = co_await own_or_absent(get); !owned) co_return owned;
  }
  if (policy.quota) {
    const GetQuota get{*policy.quota};
    co_return co_await own_or_absent(get);
  }
  co_return Result<void>{};
}

// Many nodes name the same few.
Async<void> NamespaceEngine::own_needs(const std::vector<FlowNode>& nodes,
                                       const std::vector<BudgetId>& budgets) {
  std::set<BudgetId> of_all(budgets.begin(), budgets.end());
  std::set<QuotaId> quotas;
  for (const auto& node : nodes) {
    of_all.insert(node.policy.budgets.begin(), node.policy.budgets.end());
    if (node.policy.quota) quotas.insert(*node.policy.quota);
  }
  const Policy together{.budgets = {of_all.begin(), of_all.end()}};
  if (auto owned = co_await own_needs(together); !owned) co_return owned;
  for (const auto& quota : quotas) {
    const GetQuota get{quota};
    if (auto owned = co_await own_or_absent(get); !owned) co_return owned;
  }
  co_return Result<void>{};
}

template <class Op>
NamespaceEngine::Subject NamespaceEngine::subject_of(const Op& operation) {
  if constexpr (std::same_as<Op, Submit> || std::same_as<Op, SubmitFlow> ||
                std::same_as<Op, ExtendFlow>)
    return &operation;
  else if constexpr (std::same_as<Op, ReadEvents> || std::same_as<Op, ReadAudit>)
    return operation.ns.value_or(Namespace{});  // none: those of all
  else if constexpr (NamesNamespace<Op>)
    return operation.ns;
  else if constexpr (NamesExecution<Op> || NamesBudget<Op> || NamesQuota<Op> || NamesFlow<Op>)
    return operation.id;
  // The token of a waitpoint says what its holder may do.
  else if constexpr (std::same_as<Op, Health> || std::same_as<Op, CheckReady> ||
                     std::same_as<Op, WhoAmI> ||
                     std::same_as<Op, ReadWaitpoint> || std::same_as<Op, AnswerWaitpoint>)
    return TheEngine{};
  else
    return AllNamespaces{};
}

// The execution that a budget is told of.
std::optional<ExecutionId> NamespaceEngine::spender_of(EngineCall& call) {
  if (const auto* report = call.get_if<ReportUsage>()) return report->operation.execution;
  if (const auto* release = call.get_if<ReleaseUsage>()) return release->operation.execution;
  return std::nullopt;
}

asio::awaitable<void> NamespaceEngine::perform(EngineCall& call) {
  if (auto* submits = call.get_if<SubmitMany>()) co_return co_await answer_each(*submits);
  if (auto* completes = call.get_if<CompleteMany>()) co_return co_await answer_each(*completes);
  auto owned = co_await owns(call.visit([](auto& each) { return subject_of(each.operation); }));
  if (const auto spender = spender_of(call); owned && spender) {
    const GetExecution get{*spender};
    owned = co_await own_or_absent(get);
  }
  if (!owned)
    call.refuse(std::move(owned.error()));
  else
    co_await engine_.perform(call);
}

// Each is refused on its own; the others go on together.
template <class Op>
asio::awaitable<void> NamespaceEngine::answer_each(OperationCall<Op>& call) {
  auto& operation = call.operation;
  if (auto valid = core::validate(operation, {}); !valid) {
    call.refuse(std::move(valid.error()));
    co_return;
  }
  typename Op::Reply reply;
  reply.results.resize(operation.executions.size(), std::unexpected(Error{}));
  Op allowed;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < operation.executions.size(); ++i) {
    auto owned = co_await owns(subject_of(operation.executions[i]));
    if (!owned) {
      reply.results[i] = std::unexpected(std::move(owned.error()));
      continue;
    }
    allowed.executions.push_back(std::move(operation.executions[i]));
    positions.push_back(i);
  }
  if (!positions.empty()) {
    auto done = co_await engine_.run(std::move(allowed));
    if (!done) {
      call.refuse(std::move(done.error()));
      co_return;
    }
    for (std::size_t i = 0; i < positions.size(); ++i)
      reply.results[positions[i]] = std::move(done->results[i]);
  }
  call.reply.emplace(std::move(reply));
}

Async<void> NamespaceEngine::owns(Subject subject) {
  if (const auto* submit = std::get_if<const Submit*>(&subject)) {
    if (auto owned = own((*submit)->ns); !owned) co_return owned;
    if ((*submit)->flow) {
      const GetFlow get{.id = *(*submit)->flow};
      if (auto owned = co_await find_own(get); !owned) co_return owned;
    }
    co_return co_await own_needs((*submit)->policy);
  }
  if (const auto* submit = std::get_if<const SubmitFlow*>(&subject)) {
    if (auto owned = own((*submit)->ns); !owned) co_return owned;
    co_return co_await own_needs((*submit)->nodes, (*submit)->budgets);
  }
  if (const auto* extend = std::get_if<const ExtendFlow*>(&subject)) {
    if (auto owned = co_await find_own(GetFlow{.id = (*extend)->id}); !owned) co_return owned;
    const std::vector<BudgetId> none;
    co_return co_await own_needs((*extend)->nodes, none);
  }
  if (const auto* ns = std::get_if<Namespace>(&subject)) co_return own(*ns);
  if (const auto* id = std::get_if<ExecutionId>(&subject))
    co_return co_await find_own(GetExecution{*id});
  if (const auto* id = std::get_if<BudgetId>(&subject)) co_return co_await find_own(GetBudget{*id});
  if (const auto* id = std::get_if<QuotaId>(&subject)) co_return co_await find_own(GetQuota{*id});
  if (const auto* id = std::get_if<FlowId>(&subject))
    co_return co_await find_own(GetFlow{.id = *id});
  if (std::holds_alternative<TheEngine>(subject)) co_return Result<void>{};
  co_return fail(Errc::permission_denied,
                 "this token is for one namespace, and that concerns all of them");
}

}  // namespace ff::http
