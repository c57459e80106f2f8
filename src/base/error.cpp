#include <flowfabric/error.hpp>

#include <array>

#include "base/assert.hpp"

namespace ff {
namespace {

using enum ErrorClass;

// One row per error; nothing else maps errors.
constexpr std::array errors{
    ErrcInfo{Errc::invalid_input, "invalid_input", 400, terminal},
    ErrcInfo{Errc::invalid_json, "invalid_json", 400, terminal},
    ErrcInfo{Errc::unknown_field, "unknown_field", 400, terminal},
    ErrcInfo{Errc::payload_too_large, "payload_too_large", 413, terminal},
    ErrcInfo{Errc::invalid_capabilities, "invalid_capabilities", 400, terminal},
    ErrcInfo{Errc::invalid_tag_key, "invalid_tag_key", 400, terminal},
    ErrcInfo{Errc::fence_required, "fence_required", 400, terminal},
    ErrcInfo{Errc::partial_fence_triple, "partial_fence_triple", 400, terminal},
    ErrcInfo{Errc::unsupported_media_type, "unsupported_media_type", 415, terminal},
    ErrcInfo{Errc::route_not_found, "route_not_found", 404, terminal},
    ErrcInfo{Errc::method_not_allowed, "method_not_allowed", 405, terminal},
    ErrcInfo{Errc::headers_too_large, "headers_too_large", 431, terminal},
    ErrcInfo{Errc::request_timeout, "request_timeout", 408, retryable},
    ErrcInfo{Errc::unauthenticated, "unauthenticated", 401, terminal},
    ErrcInfo{Errc::permission_denied, "permission_denied", 403, terminal},
    ErrcInfo{Errc::resource_exhausted, "resource_exhausted", 429, retryable},
    ErrcInfo{Errc::overloaded, "overloaded", 503, retryable},
    ErrcInfo{Errc::not_ready, "not_ready", 503, retryable},
    ErrcInfo{Errc::execution_not_found, "execution_not_found", 404, terminal},
    ErrcInfo{Errc::duplicate_mismatch, "duplicate_mismatch", 409, terminal},
    ErrcInfo{Errc::execution_not_active, "execution_not_active", 409, terminal},
    ErrcInfo{Errc::execution_not_eligible, "execution_not_eligible", 409, terminal},
    ErrcInfo{Errc::execution_not_leaseable, "execution_not_leaseable", 409, retryable},
    ErrcInfo{Errc::execution_not_terminal, "execution_not_terminal", 409, terminal},
    ErrcInfo{Errc::execution_failed, "execution_failed", 409, terminal},
    ErrcInfo{Errc::max_replays_exhausted, "max_replays_exhausted", 409, terminal},
    ErrcInfo{Errc::grant_already_exists, "grant_already_exists", 409, retryable},
    ErrcInfo{Errc::invalid_claim_grant, "invalid_claim_grant", 409, terminal},
    ErrcInfo{Errc::claim_grant_expired, "claim_grant_expired", 409, terminal},
    ErrcInfo{Errc::capability_mismatch, "capability_mismatch", 409, terminal},
    ErrcInfo{Errc::stale_lease, "stale_lease", 409, terminal},
    ErrcInfo{Errc::lease_expired, "lease_expired", 409, terminal},
    ErrcInfo{Errc::lease_revoked, "lease_revoked", 409, terminal},
    ErrcInfo{Errc::budget_not_found, "budget_not_found", 404, terminal},
    ErrcInfo{Errc::quota_not_found, "quota_policy_not_found", 404, terminal},
    ErrcInfo{Errc::worker_not_found, "worker_not_found", 404, terminal},
    ErrcInfo{Errc::budget_exceeded, "budget_exceeded", 409, retryable},
    ErrcInfo{Errc::quota_exceeded, "quota_exceeded", 409, retryable},
    ErrcInfo{Errc::admission_expired, "admission_expired", 409, retryable},
    ErrcInfo{Errc::worker_at_capacity, "worker_at_capacity", 429, retryable},
    ErrcInfo{Errc::worker_id_in_use, "worker_id_in_use", 409, retryable},
    ErrcInfo{Errc::lane_paused, "lane_paused", 409, retryable},
    ErrcInfo{Errc::execution_not_suspended, "execution_not_suspended", 409, terminal},
    ErrcInfo{Errc::target_not_signalable, "target_not_signalable", 409, terminal},
    ErrcInfo{Errc::invalid_condition, "invalid_condition", 400, terminal},
    ErrcInfo{Errc::waitpoint_not_found, "waitpoint_not_found", 404, terminal},
    ErrcInfo{Errc::waitpoint_closed, "waitpoint_closed", 410, terminal},
    ErrcInfo{Errc::waitpoint_answered, "waitpoint_answered", 409, terminal},
    ErrcInfo{Errc::waitpoint_limit_exceeded, "waitpoint_limit_exceeded", 409, terminal},
    ErrcInfo{Errc::signal_limit_exceeded, "signal_limit_exceeded", 409, terminal},
    ErrcInfo{Errc::step_not_found, "step_not_found", 404, terminal},
    ErrcInfo{Errc::step_limit_exceeded, "step_limit_exceeded", 409, terminal},
    ErrcInfo{Errc::stream_sequence_gap, "stream_sequence_gap", 409, terminal},
    ErrcInfo{Errc::stream_full, "stream_full", 409, terminal},
    ErrcInfo{Errc::stream_limit_exceeded, "stream_limit_exceeded", 409, terminal},
    ErrcInfo{Errc::invalid_patch, "invalid_patch", 400, terminal},
    ErrcInfo{Errc::summary_too_large, "summary_too_large", 409, terminal},
    ErrcInfo{Errc::flow_not_found, "flow_not_found", 404, terminal},
    ErrcInfo{Errc::node_not_found, "node_not_found", 404, terminal},
    ErrcInfo{Errc::flow_already_terminal, "flow_already_terminal", 409, terminal},
    ErrcInfo{Errc::flow_not_building, "flow_not_building", 409, terminal},
    ErrcInfo{Errc::flow_not_sealed, "flow_not_sealed", 409, terminal},
    ErrcInfo{Errc::flow_being_removed, "flow_being_removed", 409, retryable},
    ErrcInfo{Errc::flow_limit_exceeded, "flow_limit_exceeded", 409, terminal},
    ErrcInfo{Errc::cycle_detected, "cycle_detected", 409, terminal},
    ErrcInfo{Errc::self_referencing_edge, "self_referencing_edge", 409, terminal},
    ErrcInfo{Errc::stale_graph_revision, "stale_graph_revision", 409, terminal},
    ErrcInfo{Errc::execution_not_in_flow, "execution_not_in_flow", 409, terminal},
    ErrcInfo{Errc::execution_already_in_flow, "execution_already_in_flow", 409, terminal},
    ErrcInfo{Errc::dependency_already_exists, "dependency_already_exists", 409, terminal},
    ErrcInfo{Errc::missing_token, "missing_token", 400, terminal},
    ErrcInfo{Errc::invalid_token, "invalid_token", 403, terminal},
    ErrcInfo{Errc::token_expired, "token_expired", 403, terminal},
    ErrcInfo{Errc::invalid_kid, "invalid_kid", 400, terminal},
    ErrcInfo{Errc::invalid_secret_hex, "invalid_secret_hex", 400, terminal},
    ErrcInfo{Errc::rotation_conflict, "rotation_conflict", 409, terminal},
    ErrcInfo{Errc::rotation_in_progress, "rotation_in_progress", 429, retryable},
    ErrcInfo{Errc::backup_exists, "backup_exists", 409, terminal},
    ErrcInfo{Errc::store_locked, "store_locked", 503, terminal},
    ErrcInfo{Errc::store_not_writable, "store_not_writable", 503, terminal},
    ErrcInfo{Errc::store_too_new, "store_too_new", 500, terminal},
    ErrcInfo{Errc::store_too_old, "store_too_old", 500, terminal},
    ErrcInfo{Errc::store_damaged, "store_damaged", 500, terminal},
    ErrcInfo{Errc::store_unavailable, "store_unavailable", 503, retryable},
    ErrcInfo{Errc::address_in_use, "address_in_use", 503, terminal},
    ErrcInfo{Errc::unreachable, "unreachable", 503, retryable},
    ErrcInfo{Errc::timed_out, "timed_out", 504, retryable},
    ErrcInfo{Errc::malformed_response, "malformed_response", 502, terminal},
    ErrcInfo{Errc::internal, "internal", 500, terminal},
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

Error::Error() = default;
Error::Error(Errc given_code, std::string given_message, std::vector<Detail> given_details)
    : code(given_code), message(std::move(given_message)), details(std::move(given_details)) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;
bool Error::operator==(const Error&) const = default;

std::unexpected<Error> fail(Errc code, std::string message, std::vector<Error::Detail> details) {
  return std::unexpected<Error>(std::in_place, code, std::move(message), std::move(details));
}

std::unexpected<Error> fail_field(Errc code, std::string_view field, std::string message) {
  return fail(code, std::move(message), {{"field", std::string(field)}});
}

Exception::Exception(Error error)
    : std::runtime_error(std::string(error.name()) + ": " + error.message),
      error_(std::move(error)) {}

}  // namespace ff
