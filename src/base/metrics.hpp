// Metrics for Prometheus: families whose members are made when they are first needed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace ff {

inline constexpr const char* metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

// Bounds in seconds, from half a millisecond to a minute.
const prometheus::Histogram::BucketBoundaries& latency_buckets();

// The metrics of a registry, in the Prometheus text format.
std::string to_text(const prometheus::Registry& registry);

// The members of a family by the values of its labels. Clients choose some of these values (lanes), so
// there are at most `members_max`; all others are counted under "other". Thread-safe.
template <class Metric>
class Members {
 public:
  static constexpr std::size_t members_max = 1'000;

  Members(prometheus::Family<Metric>& family, std::vector<std::string> label_names)
      : family_(family), label_names_(std::move(label_names)) {}

  template <class... Args>
  Metric& at(const std::vector<std::string>& values, Args&&... args) {
    const std::lock_guard lock(mutex_);
    if (const auto found = members_.find(values); found != members_.end()) return *found->second;
    const bool full = members_.size() >= members_max;
    const auto key = full ? std::vector<std::string>(values.size(), "other") : values;
    auto& member = family_.Add(labels(key), std::forward<Args>(args)...);
    if (!full) members_.emplace(values, &member);
    return member;
  }

 private:
  std::map<std::string, std::string> labels(const std::vector<std::string>& values) const {
    std::map<std::string, std::string> all;
    for (std::size_t i = 0; i < values.size(); ++i) all.emplace(label_names_[i], values[i]);
    return all;
  }

  prometheus::Family<Metric>& family_;
  const std::vector<std::string> label_names_;
  std::mutex mutex_;
  std::map<std::vector<std::string>, Metric*> members_;
};

Members<prometheus::Counter> counters(prometheus::Registry& registry, const char* name,
                                      const char* help, std::vector<std::string> labels);
Members<prometheus::Histogram> histograms(prometheus::Registry& registry, const char* name,
                                          const char* help, std::vector<std::string> labels);

}  // namespace ff
