// An engine as one tenant sees it: what belongs to other namespaces is not there.
#pragma once

#include <flowfabric/engine.hpp>

#include <variant>

namespace ff::http {

// Asks the engine below for nothing but what belongs to `ns`. Executions, flows, budgets, quotas and bulk jobs of
// others are not found, other namespaces permission_denied.
class NamespaceEngine final : public Engine {
 public:
  NamespaceEngine(Engine& engine, Namespace ns);
  ~NamespaceEngine() override;

  asio::awaitable<void> perform(EngineCall& call) override;
  asio::any_io_executor executor() override { return engine_.executor(); }

 private:
  struct TheEngine {};  // itself, and harmless to see
  struct AllNamespaces {};
  // The subject of an operation, by which the tenant's right to it is decided.
  using Subject = std::variant<TheEngine, AllNamespaces, Namespace, ExecutionId, BudgetId, QuotaId,
                               FlowId, BulkId, const Submit*, const SubmitFlow*, const ExtendFlow*>;
  template <class Op>
  static Subject subject_of(const Op& operation);

  static std::optional<ExecutionId> spender_of(EngineCall& call);

  template <class Op>
  asio::awaitable<void> answer_each(OperationCall<Op>& call);
  Async<void> owns(Subject subject);
  Result<void> own(const Namespace& ns) const;
  template <class Get>
  Async<void> find_own(Get get);
  template <class Get>
  Async<void> own_or_absent(Get get);
  Async<void> own_needs(Policy policy);
  Async<void> own_needs(const std::vector<FlowNode>& nodes, const std::vector<BudgetId>& budgets);

  Engine& engine_;
  Namespace ns_;
};

}  // namespace ff::http
