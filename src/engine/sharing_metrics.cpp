#include "engine/sharing_metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "base/metrics.hpp"
#include "store/shared_store.hpp"

namespace ff {

std::string sharing_metrics(const store::Store& store) {
  const auto* shared = dynamic_cast<const store::SharedStore*>(&store);
  if (!shared) return {};
  const auto sharing = shared->sharing();
  prometheus::Registry moment;
  prometheus::BuildGauge()
      .Name("ff_partitions_swept")
      .Help("Partitions that the scanners of this server look after")
      .Register(moment)
      .Add({})
      .Set(static_cast<double>(sharing.partitions));
  const auto count = [&](const char* name, const char* help, std::uint64_t number) {
    auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(moment);
    family.Add({}).Increment(static_cast<double>(number));
  };
  count("ff_lease_attempts_total", "Leases that claims asked for; another server may be faster",
        sharing.leases_asked);
  count("ff_leases_total", "Leases that claims got", sharing.leases_got);
  return to_text(moment);
}

}  // namespace ff
