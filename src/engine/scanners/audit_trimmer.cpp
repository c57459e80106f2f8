#include "engine/scanners/audit_trimmer.hpp"

#include "base/try.hpp"

namespace ff {

Async<Scan> AuditTrimmer::run_once() {
  constexpr std::size_t batch_max = 1'000;
  const auto now = store_.now();
  if (now - TimePoint{} <= keep_) co_return Scan{};
  const auto removed = co_await store_.run(core::TrimAudit{.before = now - keep_, .max = batch_max});
  FF_CO_TRY(removed);
  co_return Scan{.seen = *removed, .changed = *removed, .more = *removed == batch_max};
}

}  // namespace ff
