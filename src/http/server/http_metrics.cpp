#include "http/server/http_metrics.hpp"

namespace ff::http {
namespace {

const std::vector<std::string> labels{"method", "path", "status"};

// Clients may invent methods; only the usual ones are told apart.
std::string name_of(Verb method) {
  switch (method) {
    case Verb::get:
    case Verb::head:
    case Verb::post:
    case Verb::put:
    case Verb::delete_:
    case Verb::patch:
    case Verb::options: return beast::http::to_string(method);
    default: return "OTHER";
  }
}

// The files of the dashboard count as one: their paths differ in every version.
std::string path_of(const Route* route) {
  if (!route) return "unknown";
  return route->page && route->page->is_kept ? "/ui/assets" : std::string(route->endpoint.path);
}

void set_gauge(prometheus::Registry& registry, const char* name, const char* help,
               std::size_t value) {
  prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({}).Set(
      static_cast<double>(value));
}

}  // namespace

HttpMetrics::HttpMetrics()
    : requests_(counters(registry_, "ff_http_requests_total", "Requests answered", labels)),
      seconds_(histograms(registry_, "ff_http_request_duration_seconds",
                          "From a request's last byte to its answer", labels)) {}

void HttpMetrics::answered(Verb method, const Route* route, unsigned status,
                           std::chrono::steady_clock::duration took) {
  const std::vector<std::string> values{name_of(method), path_of(route), std::to_string(status)};
  requests_.at(values).Increment();
  seconds_.at(values, latency_buckets()).Observe(std::chrono::duration<double>(took).count());
}

std::string HttpMetrics::text(const Taken& taken) const {
  prometheus::Registry moment;
  set_gauge(moment, "ff_http_connections", "Open connections", taken.connections);
  set_gauge(moment, "ff_http_long_polls", "Requests and event streams that wait", taken.long_polls);
  set_gauge(moment, "ff_http_tails", "Readers that follow streams", taken.tails);
  set_gauge(moment, "ff_http_body_bytes", "Of requests that are read or answered",
            taken.body_bytes);
  set_gauge(moment, "ff_http_unread_bytes", "Of streams, waiting to be read by clients",
            taken.unread_bytes);
  return to_text(registry_) + to_text(moment);
}

}  // namespace ff::http
