// Runs bulk jobs, a slice at a time.
#pragma once

#include "base/async/wakeup.hpp"
#include "core/bulks/commands.hpp"
#include "engine/scanner.hpp"
#include "engine/scanners/scanner_filter.hpp"
#include "engine/starting/worker_cache.hpp"
#include "store/store.hpp"

namespace ff {

// A job is run by the process that holds its lease; if that process dies, another one goes on with the last slice that
// was saved. Between its steps it pauses, so that workers get most of the store.
class BulkRunner final : public Scanner {
 public:
  struct Parts {
    store::Store& store;
    WorkerCache& workers;
    Engine& engine;             // that redrives flows
    ScannerFilter filter = {};  // jobs of its namespace; with a tag: no jobs, which have none
    std::string name;           // of this process
  };
  explicit BulkRunner(Parts parts) : parts_(std::move(parts)) {}

  std::string_view name() const override { return "bulk_runner"; }
  Async<Scan> run_once() override;

 private:
  static constexpr std::size_t jobs_max = 100;  // that one run looks at
  static constexpr std::uint32_t slice_max =
      1'000;                                       // executions between two records of the progress
  static constexpr std::size_t at_once_max = 100;  // that the store gets at once
  static constexpr Millis forget_every = std::chrono::minutes{1};

  Async<void> forget_old();
  // Replies whether it did something; false: another process has the job, or it was stopped.
  Async<bool> run_slice(core::Bulk bulk);
  Async<bool> save(core::Bulk bulk);
  Async<bool> save_progress(core::Bulk bulk);
  Async<void> act(core::Bulk& bulk, const std::vector<ExecutionInfo>& executions);
  Async<void> act_on_some(core::Bulk& bulk, std::span<const ExecutionInfo* const> some);
  asio::awaitable<std::vector<std::optional<Error>>> carry_out(
      const core::Bulk& bulk, std::span<const ExecutionInfo* const> some);
  template <class Command, class Make>
  asio::awaitable<std::vector<std::optional<Error>>> run_each(
      std::span<const ExecutionInfo* const> some, Make make);
  asio::awaitable<std::vector<std::optional<Error>>> remove_each(
      std::span<const ExecutionInfo* const> some);
  asio::awaitable<std::vector<std::optional<Error>>> redrive_each(
      const core::Bulk& bulk, std::span<const ExecutionInfo* const> some);
  Async<void> redrive(const core::Bulk& bulk, FlowId id);
  bool looks_after(const core::Bulk& bulk) const;
  asio::awaitable<void> pause(std::chrono::steady_clock::duration busy);

  Parts parts_;
  TimePoint forget_at_{};
};

}  // namespace ff
