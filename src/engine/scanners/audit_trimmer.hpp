// Forgets entries of the audit log that are old enough.
#pragma once

#include "engine/scanner.hpp"
#include "store/store.hpp"

namespace ff {

class AuditTrimmer final : public Scanner {
 public:
  AuditTrimmer(store::Store& store, Millis keep) : store_(store), keep_(keep) {}

  std::string_view name() const override { return "audit_trimmer"; }
  Async<Scan> run_once() override;

 private:
  store::Store& store_;
  const Millis keep_;
};

}  // namespace ff
