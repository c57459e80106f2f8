#include "base/metrics.hpp"

#include <prometheus/text_serializer.h>

namespace ff {

const prometheus::Histogram::BucketBoundaries& latency_buckets() {
  static const prometheus::Histogram::BucketBoundaries bounds{
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  return bounds;
}

std::string to_text(const prometheus::Registry& registry) {
  return prometheus::TextSerializer().Serialize(registry.Collect());
}

Members<prometheus::Counter> counters(prometheus::Registry& registry, const char* name,
                                      const char* help, std::vector<std::string> labels) {
  return {prometheus::BuildCounter().Name(name).Help(help).Register(registry), std::move(labels)};
}

Members<prometheus::Histogram> histograms(prometheus::Registry& registry, const char* name,
                                          const char* help, std::vector<std::string> labels) {
  return {prometheus::BuildHistogram().Name(name).Help(help).Register(registry), std::move(labels)};
}

}  // namespace ff
