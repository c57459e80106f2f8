// Calls that fail for a while, told to the log when it begins and when it ends.
#pragma once

#include <flowfabric/error.hpp>

#include <chrono>
#include <string>

namespace ff {

// The engine refuses the caller, and will refuse it again: its token is missing, wrong, revoked, or lacks
// a permission.
bool is_denied(const Error& error);

// The server is older than the caller: it does not know this field of the request.
bool knows_no_field(const Error& error, std::string_view field);

class Outage {
 public:
  // `what` is what cannot be done, such as "worker w1 cannot claim".
  explicit Outage(std::string what) : what_(std::move(what)) {}

  void failed(const Error& error);
  void over();

 private:
  std::string what_;
  std::optional<std::chrono::steady_clock::time_point> since_;
};

}  // namespace ff
