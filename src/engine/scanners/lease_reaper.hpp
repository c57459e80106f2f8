// Takes executions back from workers whose lease has run out, so that others can claim them.
#pragma once

#include "engine/scanner.hpp"
#include "store/store.hpp"

namespace ff {

class LeaseReaper final : public Scanner {
 public:
  explicit LeaseReaper(store::Store& store) : store_(store) {}

  std::string_view name() const override { return "lease_reaper"; }
  Async<Scan> run_once() override;

 private:
  static constexpr std::size_t batch_max = 500;
  store::Store& store_;
};

}  // namespace ff
