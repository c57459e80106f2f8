// The limit on everything that a caller can grow.
#pragma once

#include <flowfabric/time.hpp>

#include <cstddef>
#include <cstdint>

namespace ff::limits {

inline constexpr std::size_t payload_bytes_max = 1024 * 1024;
inline constexpr std::size_t result_bytes_max = 1024 * 1024;
inline constexpr std::size_t reason_bytes_max = 4096;
inline constexpr std::size_t category_bytes_max = 64;
inline constexpr std::size_t retryable_categories_max = 64;

inline constexpr std::size_t tags_max = 256;
inline constexpr std::size_t tag_key_bytes_max = 128;
inline constexpr std::size_t tag_value_bytes_max = 1024;

inline constexpr std::int32_t priority_max = 9000;
inline constexpr std::uint32_t retries_max = 10'000;
inline constexpr std::uint32_t reclaims_max = 10'000;
inline constexpr std::uint32_t replays_max = 1'000;

inline constexpr std::size_t batch_items_max = 1'000;             // of one submit or complete
inline constexpr std::size_t batch_bytes_max = 16 * 1024 * 1024;  // payloads or results together
inline constexpr std::uint32_t claim_batch_max = 256;
inline constexpr std::size_t claim_lanes_max = 64;
inline constexpr std::size_t claim_kinds_max = 256;
inline constexpr std::uint32_t list_page_max = 1'000;
inline constexpr std::uint32_t events_page_max = 1'000;

// Of one execution or worker, each token counted once.
inline constexpr std::size_t capability_tokens_max = 256;
inline constexpr std::size_t capability_csv_bytes_max = 4096;

// The largest amount that Lua represents exactly.
inline constexpr std::uint64_t amount_max = (std::uint64_t{1} << 53) - 1;
inline constexpr std::size_t dimension_bytes_max = 64;
inline constexpr std::size_t dimensions_max = 64;         // of one budget's limits, or one report
inline constexpr std::size_t usage_dimensions_max = 256;  // that one budget counts
inline constexpr std::size_t scope_bytes_max = 256;
inline constexpr std::size_t budgets_per_execution_max = 16;
inline constexpr std::size_t budgets_max = 10'000;            // of one namespace
inline constexpr std::size_t quotas_max = 10'000;             // of one namespace
inline constexpr std::uint64_t quota_starts_max = 1'000'000;  // per window, or running
inline constexpr Millis quota_window_max = std::chrono::days{7};
inline constexpr Millis usage_dedup_window = std::chrono::hours{24};
inline constexpr std::size_t workers_max = 10'000;  // of one namespace
inline constexpr std::size_t paused_lanes_max = 1'000;            // of one namespace
inline constexpr std::size_t paused_lanes_of_store_max = 10'000;  // of all namespaces together
inline constexpr std::size_t pause_reason_bytes_max = 512;       // of a lane
inline constexpr Millis worker_ttl_min = std::chrono::seconds{1};
inline constexpr Millis worker_ttl_max = std::chrono::hours{1};
// How long an execution pauses that a budget has room for, but not enough.
inline constexpr Millis suspend_pause = std::chrono::seconds{10};
// How long a start that a quota let in may take to become a lease or a grant.
inline constexpr Millis quota_token_valid = std::chrono::seconds{30};

inline constexpr Millis lease_ttl_min{1};
inline constexpr Millis lease_ttl_max = std::chrono::hours{24};
inline constexpr Millis grant_ttl_max = std::chrono::seconds{60};
inline constexpr Millis wait_max = std::chrono::seconds{60};  // of one long poll
inline constexpr Millis duration_max =
    std::chrono::years{10};  // of any timeout, backoff or retention
inline constexpr TimePoint time_max{std::chrono::years{200}};  // of any point in time

inline constexpr Millis retention_default = std::chrono::hours{24};

// The audit log.
inline constexpr std::size_t audit_text_bytes_max = 256;  // of each text of an entry
inline constexpr std::uint64_t audit_entries_default = 100'000;
inline constexpr Millis audit_retention_default = std::chrono::days{90};

// Suspensions.
inline constexpr std::uint32_t signals_max =
    10'000;  // of one execution, unless its policy says less
inline constexpr std::size_t signal_bytes_max = 256 * 1024;  // of a payload
inline constexpr std::size_t signal_text_bytes_max = 256;    // of source, category and correlation
inline constexpr std::size_t signals_page_bytes_max = 8 * 1024 * 1024;
inline constexpr std::size_t waitpoints_max = 64;  // open ones of an execution
inline constexpr std::size_t suspension_state_bytes_max = 64 * 1024;
inline constexpr std::size_t condition_depth_max = 4;
inline constexpr std::size_t condition_nodes_max = 256;
inline constexpr std::uint32_t condition_count_max = 1'000;  // of signals, sources or waitpoints
inline constexpr std::size_t question_bytes_max = 4096;      // of a title or a text
inline constexpr std::size_t choices_max = 16;
inline constexpr std::size_t choice_bytes_max = 128;
inline constexpr std::size_t approvers_max = 32;
inline constexpr std::size_t approver_bytes_max = 128;
inline constexpr std::size_t waitpoint_secret_bytes_min = 16;
inline constexpr std::size_t waitpoint_secret_bytes_max = 1024;
inline constexpr Millis waitpoint_secret_grace_default = std::chrono::hours{24};
inline constexpr Millis signal_dedup_default = std::chrono::hours{24};

// Durable steps of one execution.
inline constexpr std::uint32_t steps_max = 1'000;
inline constexpr std::size_t step_bytes_max = 256 * 1024;
inline constexpr std::uint64_t steps_bytes_max = 16 * 1024 * 1024;  // together

// Streams.
inline constexpr std::size_t streams_max = 16;  // of one execution
inline constexpr std::size_t frame_bytes_max = 64 * 1024;
inline constexpr std::size_t frame_correlation_bytes_max = 256;
inline constexpr std::size_t append_frames_max = 1'000;            // of one call
inline constexpr std::size_t append_bytes_max = 1024 * 1024;       // of their bytes together
inline constexpr std::uint64_t stream_frames_max = 10'000;         // that are kept
inline constexpr std::uint64_t stream_bytes_max = 16 * 1024 * 1024;
inline constexpr std::uint32_t stream_page_max = 1'000;
inline constexpr std::uint32_t attempt_page_max = 1'000;  // frames of an attempt
inline constexpr Millis attempt_tail_wait_max = std::chrono::seconds{30};
inline constexpr std::size_t stream_page_bytes_max = 1024 * 1024;  // then a page ends
inline constexpr std::uint64_t live_frames_max = 1'000;            // that a live stream keeps
inline constexpr std::uint64_t live_bytes_max = 1024 * 1024;
inline constexpr std::uint64_t live_bytes_of_store_max = 64 * 1024 * 1024;  // of the embedded store's live streams
inline constexpr Millis live_kept_after_end = std::chrono::minutes{1};
inline constexpr std::uint64_t summary_frames_max = 1'000;  // patches that are kept
inline constexpr std::uint64_t summary_bytes_max = 1024 * 1024;
inline constexpr std::size_t summary_document_bytes_max = 256 * 1024;
inline constexpr std::size_t summary_depth_max = 64;  // of objects and lists inside each other
inline constexpr std::size_t summary_call_members_max = 8'192;  // of the patches of one call
inline constexpr Millis stream_ticket_ttl_default = std::chrono::minutes{15};
inline constexpr Millis stream_ticket_ttl_max = std::chrono::hours{24};

// Flows.
inline constexpr std::uint32_t flow_nodes_max = 100'000;
inline constexpr std::size_t flow_call_nodes_max = 1'000;             // of one call
inline constexpr std::size_t flow_call_edges_max = 20'000;            // between them and to others
inline constexpr std::size_t flow_call_bytes_max = 16 * 1024 * 1024;  // of their payloads together
inline constexpr std::size_t subflow_depth_max = 4;  // flows within flows, below the outermost one
inline constexpr std::uint32_t node_dependencies_max = 10'000;        // of one node
inline constexpr std::uint32_t flow_edges_max = 1'000'000;
inline constexpr Millis flow_building_max = std::chrono::minutes{30};  // then it is to be sealed
inline constexpr std::size_t inputs_page_bytes_max = 4 * 1024 * 1024;
inline constexpr std::uint32_t inputs_page_max = 1'000;
inline constexpr std::size_t redrive_names_max = 1'000;

// Leases that are remembered of one attempt that is paused and resumed again and again.
inline constexpr std::size_t leases_per_attempt_max = 32;

// One claim in so many takes the execution that has waited longest, whatever its priority: nothing
// waits for ever behind more urgent work.
inline constexpr std::uint32_t oldest_first_every = 16;

}  // namespace ff::limits
