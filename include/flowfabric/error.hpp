// Errors as values: what went wrong, for a program (code, retryable) and for a person (message).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ff {

// Every way in which an operation can fail. Names on the wire and HTTP statuses are in one table,
// see info().
enum class Errc : std::uint8_t {
  // The request itself is wrong.
  invalid_input,
  invalid_json,
  unknown_field,
  payload_too_large,
  invalid_capabilities,
  invalid_tag_key,
  fence_required,
  partial_fence_triple,
  unsupported_media_type,
  route_not_found,
  method_not_allowed,
  headers_too_large,
  request_timeout,
  // The caller is not authorized, or the server cannot serve it at this time.
  unauthenticated,
  permission_denied,
  resource_exhausted,
  overloaded,
  not_ready,
  // The execution is not there, or not in a state that allows it.
  execution_not_found,
  duplicate_mismatch,
  execution_not_active,
  execution_not_eligible,
  execution_not_leaseable,
  execution_not_terminal,
  execution_failed,
  max_replays_exhausted,
  grant_already_exists,
  invalid_claim_grant,
  claim_grant_expired,
  capability_mismatch,
  stale_lease,
  lease_expired,
  lease_revoked,
  budget_not_found,
  quota_not_found,
  worker_not_found,
  budget_exceeded,
  quota_exceeded,
  admission_expired,
  worker_at_capacity,
  worker_id_in_use,
  lane_paused,
  execution_not_suspended,
  target_not_signalable,
  invalid_condition,
  waitpoint_not_found,
  waitpoint_closed,
  waitpoint_answered,
  waitpoint_limit_exceeded,
  signal_limit_exceeded,
  step_not_found,
  step_limit_exceeded,
  stream_sequence_gap,
  stream_full,
  stream_limit_exceeded,
  invalid_patch,
  summary_too_large,
  flow_not_found,
  node_not_found,
  flow_already_terminal,
  flow_not_building,
  flow_not_sealed,
  flow_being_removed,
  flow_limit_exceeded,
  cycle_detected,
  self_referencing_edge,
  stale_graph_revision,
  execution_not_in_flow,
  execution_already_in_flow,
  dependency_already_exists,
  missing_token,
  invalid_token,
  token_expired,
  invalid_kid,
  invalid_secret_hex,
  rotation_conflict,
  rotation_in_progress,
  backup_exists,
  // The engine or the way to it is at fault.
  store_locked,
  store_not_writable,
  store_too_new,
  store_too_old,
  store_damaged,
  store_unavailable,
  address_in_use,
  unreachable,
  timed_out,
  malformed_response,
  internal,
};

// The caller's reaction to an error.
enum class ErrorClass : std::uint8_t {
  terminal,   // stop: the same call will not succeed
  retryable,  // the same call may succeed later, unchanged
};

struct ErrcInfo {
  Errc code;
  std::string_view name;  // on the wire, in logs, in Lua
  int http_status;
  ErrorClass error_class;
};

const ErrcInfo& info(Errc code);
std::optional<Errc> errc_from_name(std::string_view name);

struct Error {
  // A fact about the failure that a program may want, such as the field that was wrong.
  struct Detail {
    std::string name;
    std::string value;
    bool is_number = false;  // `value` is one, and JSON shows it as one
    bool operator==(const Detail&) const = default;
  };

  // Defined in the library: an error is part of every Result, and would be compiled with each of them.
  Error();
  Error(Errc code, std::string message, std::vector<Detail> details = {});
  Error(const Error&);
  Error(Error&&) noexcept;
  Error& operator=(const Error&);
  Error& operator=(Error&&) noexcept;
  ~Error();

  Errc code = Errc::internal;
  std::string message;  // a sentence that says what to do about it
  std::vector<Detail> details = {};

  std::string_view name() const { return info(code).name; }
  bool retryable() const { return info(code).error_class == ErrorClass::retryable; }
  bool operator==(const Error&) const;
};

template <class T>
using Result = std::expected<T, Error>;

// return fail(Errc::invalid_input, "…");
std::unexpected<Error> fail(Errc code, std::string message,
                            std::vector<Error::Detail> details = {});

// An error about one named field of a request.
std::unexpected<Error> fail_field(Errc code, std::string_view field, std::string message);

// For those who prefer exceptions: must(result) is the value, or throws the error as an Exception.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error);
  const Error& error() const { return error_; }

 private:
  Error error_;
};

template <class T>
T must(Result<T> result) {
  if (!result) throw Exception(std::move(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace ff
