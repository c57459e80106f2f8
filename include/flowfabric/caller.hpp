// Who asks an engine for something.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/time.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace ff {

struct Caller {
  std::string name;
  std::vector<Role> roles;
  std::optional<Namespace> ns = {};  // only what belongs to it; none: all
  std::optional<TimePoint> expires_at = {};
  bool sees_payloads = true;  // and results, signals, frames and kept steps
  bool needs_token = false;   // false: the engine lets everybody do everything
  std::string csrf_token = {};  // of a login session
  std::string from = {};      // the address that the call came from

  bool may(Role wanted) const {
    if (wanted == Role::nobody) return true;
    return std::ranges::any_of(roles, [&](Role role) {
      return role == wanted || role == Role::admin || wanted == Role::read;
    });
  }
};

struct Identity {
  std::string name;
  std::vector<Role> roles = {};
  std::optional<Namespace> ns = {};          // the only one that it may see; none: all
  std::optional<TimePoint> expires_at = {};  // of its token or login session
  bool sees_payloads = true;
  bool needs_token = false;  // false: the engine lets everybody do everything
  // Of a login session: to be sent with each request that changes something.
  std::optional<std::string> csrf_token = {};
  bool operator==(const Identity&) const = default;
};

// Tells the caller what it is known as and what it may do.
struct WhoAmI {
  using Reply = Identity;
  static constexpr OperationRow row{.http = {HttpMethod::get, "/v1/whoami", Role::read,
                                             "Show the caller's name, roles and namespace"}};
};

}  // namespace ff
