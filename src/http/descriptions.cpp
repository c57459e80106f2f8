#include "http/descriptions.hpp"

#include <algorithm>
#include <array>

namespace ff::http {
namespace {

struct Row {
  std::string_view name;
  std::string_view text;
  std::string_view type = "";  // only where it has this one
};

constexpr std::array rows{
    // Of an execution
    Row{"attempts", "How many attempts have begun.", "integer"},
    Row{"cancel_reason", "Why it was cancelled."},
    Row{"content_type", "What the bytes are, such as image/png; handed on as it is."},
    Row{"deadline_ms", "If it has not ended by then, it expires."},
    Row{"delay_until_ms", "It does not run before then."},
    Row{"duplicate", "It was submitted before; nothing was changed."},
    Row{"idempotency_key",
        "A submit with the same key in the same namespace is the same execution."},
    Row{"kind", "What to run: it chooses the worker's handler."},
    Row{"lane", "The queue it waits in."},
    Row{"namespace", "The tenant it belongs to. Left out: the token's own, or default."},
    Row{"payload", "The bytes it is given, as text."},
    Row{"payload_base64", "The bytes it is given, if they are not text."},
    Row{"priority", "0 to 9000; higher runs first, then older."},
    Row{"progress", "How far the newest attempt says it is."},
    Row{"reclaims", "Attempts after a lost lease, since the last replay."},
    Row{"replays", "How often it was run again after its end."},
    Row{"result", "The bytes it ends with, as text."},
    Row{"result_base64", "The bytes it ends with, if they are not text."},
    Row{"retries", "Failures that were retried, since the last replay."},
    Row{"started_at_ms", "When the first attempt, or this one, began."},
    Row{"completed_at_ms", "When it ended, however it did."},
    Row{"state_vector", "The state in six parts, for tools that want to know more."},
    Row{"tags", "Texts to find it by."},
    Row{"traceparent", "The W3C trace it was submitted from; the worker gets it."},

    // Of a policy
    Row{"attempt_timeout_ms", "How long one attempt may take; running out counts as a failure."},
    Row{"backoff", "How long to wait before a retry."},
    Row{"dedup_window_ms", "How long the idempotency key is remembered."},
    Row{"execution_deadline_ms", "How long it may take from submit to end, all attempts together."},
    Row{"initial_delay_ms", "Before the first retry."},
    Row{"jitter", "Spreads each delay over its second half, so that retries do not come in step."},
    Row{"max_delay_ms", "No delay is longer."},
    Row{"max_reclaim_count", "How often a worker that vanished is replaced before it fails."},
    Row{"max_replay_count", "How often it may be run again after its end."},
    Row{"multiplier", "Each delay is so many times the one before; 1 to 1000."},
    Row{"required_capabilities", "Only a worker that has all of them gets it."},
    Row{"retention_ms", "How long it is kept after its end. Left out: as the server is set."},
    Row{"retry_policy", "Without it a failure is final."},
    Row{"retryable_categories",
        "Only failures of these are retried; none named: all but permanent and cancelled."},

    // Of a claim and its lease
    Row{"attempt_deadline_ms", "When this attempt's time runs out."},
    Row{"attempt_id", "Of the claim; a part of the fence."},
    Row{"attempt_index", "Counts the attempts, from 0."},
    Row{"capabilities", "What this worker has; it gets only what needs no more."},
    Row{"grant_expires_at_ms", "Until then it is set aside for the worker."},
    Row{"grant_ttl_ms", "How long it is set aside; at most 60000."},
    Row{"lanes", "The queues to look in; 1 to 64."},
    Row{"lease_epoch", "Counts the leases of an execution; a part of the fence."},
    Row{"lease_expires_at_ms", "Until then the worker holds it, unless it renews."},
    Row{"lease_id", "Of the claim; a part of the fence: whoever lost the lease is refused by it."},
    Row{"lease_ttl_ms", "How long the lease holds from now on; 1 to 86400000."},
    Row{"max", "How many executions at most; 1 to 256."},
    Row{"request_id", "Repeated with the same, a claim gives the same executions."},
    Row{"resumed", "The attempt began earlier, paused, and goes on."},
    Row{"worker", "Who runs it: a name that the worker chooses."},

    // Of ends and changes
    Row{"category", "transient, permanent, timeout, …: what the retry policy decides by.",
        "string"},
    Row{"cause", "Why there was another attempt."},
    Row{"directory", "A data directory of its own, on the server's machine."},
    Row{"percent", "0 to 100."},
    Row{"remove", "Keys of tags to take away."},
    Row{"requested_by", "Who wanted the replay."},
    Row{"retry_at_ms", "When the next attempt may begin, if there is one."},
    Row{"set", "Tags to add or change; keys look like app.key."},
    Row{"until_ms", "When it may go on."},

    // Of lists and events
    Row{"after", "Where to go on: next of the page before. Left out: from now on.", "string"},
    Row{"created_before_ms", "Only those submitted before then."},
    Row{"created_from_ms", "Only those submitted then or later."},
    Row{"cursor", "Where to go on: next of the page before."},
    Row{"limit", "How many at most; 1 to 1000."},
    Row{"missed", "Some events before these are gone: look at what you watch anew."},
    Row{"next", "Where the next page begins."},
    Row{"tag", "key=value: only those with this tag."},
    Row{"types", "Only events of these types; in a query with commas between them."},
    Row{"wait_ms", "With nothing to answer yet, wait so long for it; at most 60000."},

    // Of the server
    Row{"code", "What went wrong, for programs.", "string"},
    Row{"detail", "What went wrong and what to do, for people."},
    Row{"field", "Which field of the request it is about."},
    Row{"retryable", "The same request may succeed later."},
    Row{"scanners", "The background jobs that run."},
};

}  // namespace

std::string_view description_of(std::string_view name, std::string_view type) {
  const auto row = std::ranges::find_if(rows, [&](const Row& each) {
    return each.name == name && (each.type.empty() || each.type == type);
  });
  return row == rows.end() ? std::string_view{} : row->text;
}

}  // namespace ff::http
