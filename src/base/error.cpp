#include <flowfabric/error.hpp>

#include <array>

#include "base/assert.hpp"

namespace ff {
namespace {

// One row per error; nothing else maps errors.
constexpr std::array errors{
    ErrcInfo{Errc::invalid_input, "invalid_input", 400, false},
    ErrcInfo{Errc::invalid_json, "invalid_json", 400, false},
    ErrcInfo{Errc::unknown_field, "unknown_field", 400, false},
    ErrcInfo{Errc::payload_too_large, "payload_too_large", 413, false},
    ErrcInfo{Errc::fence_required, "fence_required", 400, false},
    ErrcInfo{Errc::partial_fence_triple, "partial_fence_triple", 400, false},
    ErrcInfo{Errc::invalid_capabilities, "invalid_capabilities", 400, false},
    ErrcInfo{Errc::unsupported_media_type, "unsupported_media_type", 415, false},
    ErrcInfo{Errc::route_not_found, "route_not_found", 404, false},
    ErrcInfo{Errc::method_not_allowed, "method_not_allowed", 405, false},
    ErrcInfo{Errc::headers_too_large, "headers_too_large", 431, false},
    ErrcInfo{Errc::execution_not_found, "execution_not_found", 404, false},
    ErrcInfo{Errc::duplicate_mismatch, "duplicate_mismatch", 409, false},
    ErrcInfo{Errc::execution_not_active, "execution_not_active", 409, false},
    ErrcInfo{Errc::execution_not_leaseable, "execution_not_leaseable", 409, true},
    ErrcInfo{Errc::execution_not_terminal, "execution_not_terminal", 409, false},
    ErrcInfo{Errc::execution_failed, "execution_failed", 409, false},
    ErrcInfo{Errc::stale_lease, "stale_lease", 409, false},
    ErrcInfo{Errc::lease_expired, "lease_expired", 409, false},
    ErrcInfo{Errc::store_locked, "store_locked", 503, false},
    ErrcInfo{Errc::store_not_writable, "store_not_writable", 503, false},
    ErrcInfo{Errc::store_too_new, "store_too_new", 500, false},
    ErrcInfo{Errc::store_damaged, "store_damaged", 500, false},
    ErrcInfo{Errc::store_unavailable, "store_unavailable", 503, true},
    ErrcInfo{Errc::address_in_use, "address_in_use", 503, false},
    ErrcInfo{Errc::unreachable, "unreachable", 503, true},
    ErrcInfo{Errc::timed_out, "timed_out", 504, true},
    ErrcInfo{Errc::malformed_response, "malformed_response", 502, false},
    ErrcInfo{Errc::internal, "internal", 500, false},
};

constexpr bool table_follows_enum() {
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (static_cast<std::size_t>(errors[i].code) != i) return false;
  return static_cast<std::size_t>(Errc::internal) + 1 == errors.size();
}
static_assert(table_follows_enum(), "a row per Errc, in the order of the enum");

}  // namespace

const ErrcInfo& info(Errc code) {
  const auto index = static_cast<std::size_t>(code);
  FF_ASSERT(index < errors.size());
  return errors[index];
}

std::optional<Errc> errc_from_name(std::string_view name) {
  for (const auto& row : errors)
    if (row.name == name) return row.code;
  return std::nullopt;
}

}  // namespace ff
