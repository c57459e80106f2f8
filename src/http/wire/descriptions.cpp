#include "http/wire/descriptions.hpp"

#include <algorithm>
#include <array>

namespace ff::http {
namespace {

struct Row {
  std::string_view name;
  std::string_view text;
  std::string_view type = "";   // only where it has this one
  std::string_view owner = "";  // only in this struct
};

constexpr std::array rows{
    // Of suspensions, waitpoints and signals
    Row{"answer", "The answer that this token has given."},
    Row{"answers", "Answers to the waitpoint so far, of all tokens."},
    Row{"approver", "The person that the token is for."},
    Row{"approvers",
        "The people that are asked: each has a token and one vote. None: one token for everybody."},
    Row{"bytes", "Their number.", "integer"},
    Row{"category", "Of your choice; handed on to the worker.", "string", "SendSignal"},
    Row{"category", "Of the sender's choice.", "string", "ReceivedSignal"},
    Row{"cause", "Why the suspension ended.", "", "Wake"},
    Row{"choices", "The answers to choose from: each sends its signal."},
    Row{"comment", "Of the person who answers; the worker gets it with the signal."},
    Row{"condition",
        "When signals resume it: {} for any; {\"signal\", \"waitpoint\"}; {\"all\": […]}; "
        "{\"any\": "
        "[…]}; {\"count\", \"of\", \"signal\", \"waitpoints\"}; operator; timeout."},
    Row{"correlation_id", "Of your choice; handed on to the worker."},
    Row{"count", "How many at least; 1 to 1000.", "integer", "CountOf"},
    Row{"counted", "Signals of these that counted."},
    Row{"counted_for", "The suspension that it counted for."},
    Row{"delay_ms", "It is ready so long from now on.", "", "Resume"},
    Row{"duplicate", "It was sent before; it counts once.", "", "SignalReply"},
    Row{"duplicate", "The same answer was given before.", "", "AnswerReply"},
    Row{"duplicate", "It was open already; nothing was changed.", "", "CreateWaitpointReply"},
    Row{"duplicate", "A result was kept before; it stays.", "", "PutStepReply"},
    Row{"effect", "What the signal did."},
    Row{"escalated", "It timed out and waits for an operator."},
    Row{"expires_at_ms", "When the waitpoint closes.", "", "WaitpointInfo"},
    Row{"expires_at_ms", "When the waitpoint closes.", "", "IssuedWaitpoint"},
    Row{"expires_at_ms", "When the waitpoint closes.", "", "WaitpointView"},
    Row{"expires_in_ms", "Left out: it closes with its suspension."},
    Row{"from", "The index of the first signal."},
    Row{"handler_state", "Bytes for the handler when it resumes, as text; at most 64 KiB."},
    Row{"handler_state_base64", "The same, if they are not text."},
    Row{"idempotency_key", "A signal with the same key counts once within dedup_window_ms.",
        "string", "SendSignal"},
    Row{"idempotency_key", "A signal with the same key counts once within dedup_ttl_ms.", "string",
        "DeliverSignal"},
    Row{"identity", "Who sent it: counted by conditions that count sources."},
    Row{"key", "The waitpoint's name inside its execution."},
    Row{"max_signals_per_execution", "Signals that it accepts before its end; at most 10000.", "",
        "Policy"},
    Row{"max_signals_per_execution", "Accepted and without effect: the policy decides.", "",
        "DeliverSignal"},
    Row{"on_timeout",
        "What the timeout does: end it (fail, cancel, expire), resume it (auto_resume), or leave "
        "it "
        "to an operator (escalate)."},
    Row{"payload", "Text, or a list of bytes.", "", "DeliverSignal"},
    Row{"progress", "How far the condition is, in a sentence.", "string"},
    Row{"reason", "Why it waits; for people and for lists.", "", "Suspend"},
    Row{"resume_delay_ms", "It is ready so long after the condition is satisfied.", "", "Suspend"},
    Row{"resume_delay_ms", "Accepted and without effect: the suspension decides.", "",
        "DeliverSignal"},
    Row{"satisfied",
        "Earlier signals satisfy the condition: it was not suspended, the lease goes on."},
    Row{"signal_id", "A UUID; repeated with the same, it counts once. Left out: minted.", "",
        "SendSignal"},
    Row{"signals", "Received since it was submitted or replayed.", "integer", "ExecutionInfo"},
    Row{"signals", "That arrived at the waitpoint.", "integer"},
    Row{"since_ms", "When it was suspended."},
    Row{"suspended_since_ms", "While suspended: since when."},
    Row{"suspension_id", "Repeated with the same, suspend answers as the first time.", "",
        "Suspend"},
    Row{"suspension_timeout_at_ms", "While suspended: when its timeout acts."},
    Row{"timeout_ms", "Left out: it waits for ever."},
    Row{"token", "Whoever has it can answer."},
    Row{"tokens", "One for each approver, or one for everybody."},
    Row{"waitpoint", "The id of the waitpoint that the signal is for.", "", "SendSignal"},
    Row{"waitpoint_token", "Of this waitpoint: the contract's form or FlowFabric's own."},
    Row{"wake", "If the attempt was suspended: why it goes on."},

    // Of flows
    Row{"after",
        "The nodes before it: a name, or an object with the end that is waited for and the name of "
        "the "
        "input.",
        "array", "FlowNode"},
    Row{"after", "The nodes before it.", "array", "FlowNodeInfo"},
    Row{"budget_ids", "Every node spends from them, beside its own.", "", "SubmitFlow"},
    Row{"building", "More nodes follow; none starts before the flow is sealed."},
    Row{"count", "Nodes that run again.", "integer", "RedriveReply"},
    Row{"counts", "How many nodes there are, and how many of them have ended how."},
    Row{"deadline_ms", "If the flow has not ended by then, it expires with its nodes.", "",
        "SubmitFlow"},
    Row{"delay_ms", "Instead of delay_until_ms: how long from now on.", "", "FlowNode"},
    Row{"delay_until_ms", "It does not run before then, also if its dependencies allow it.", "",
        "FlowNode"},
    Row{"dry_run", "Only checks the graph; nothing is submitted.", "", "SubmitFlow"},
    Row{"dry_run", "Only says which nodes would run again.", "", "RedriveFlow"},
    Row{"duplicate", "It was submitted before; nothing was changed.", "", "FlowReply"},
    Row{"flow", "Only events of this flow and its nodes.", "", "ReadEvents"},
    Row{"flow", "The flow that it is a node of."},
    Row{"from", "The number of the first node, in the order of submission.", "integer",
        "ListFlowNodes"},
    Row{"from", "The number of the first input.", "integer", "GetInputs"},
    Row{"from", "The node to run again. Left out: all that failed, expired or were cancelled.", "",
        "RedriveFlow"},
    Row{"generation", "Counts redrives."},
    Row{"idempotency_key", "A submit with the same key in the same namespace is the same flow.",
        "string", "SubmitFlow"},
    Row{"input", "The name of its result for the handler. Left out: the node's name."},
    Row{"kind", "For lists and filters.", "string", "SubmitFlow"},
    Row{"kind", "For lists and filters.", "string", "FlowInfo"},
    Row{"name", "Only inputs of this name.", "string", "GetInputs"},
    Row{"needed", "So many of the nodes before it suffice: a number, all or any."},
    Row{"node", "Its name in its flow.", "string", "ExecutionInfo"},
    Row{"node", "Its name in its flow.", "string", "ClaimedExecution"},
    Row{"nodes", "How many there are.", "integer"},
    Row{"nodes", "Those that run again, at most 1000 of them.", "array", "RedriveReply"},
    Row{"on",
        "The end of the node that is waited for; any other end makes the dependency "
        "impossible."},
    Row{"on_failure",
        "After the failure of a node that is not optional: finish lets independent nodes run, stop "
        "cancels all but those that wait for failed or finished nodes."},
    Row{"optional", "Its failure does not fail the flow."},
    Row{"policy", "Which nodes are cancelled; in the reply, the policy of the first cancellation.",
        "", "CancelFlow"},
    Row{"reason", "Why it was paused, was cancelled or failed.", "string", "FlowInfo"},
    Row{"rest",
        "With needed: the fate of the nodes before it that still run when it starts. cancel spares "
        "those that other nodes wait for."},
    Row{"result", "The node whose result is the flow's.", "", "SubmitFlow"},
    Row{"result", "The execution of the node whose result is the flow's.", "", "FlowInfo"},
    Row{"result", "Of a node that completed, as text.", "string", "NodeInput"},
    Row{"result_base64", "The same, if it is not text.", "string", "NodeInput"},
    Row{"retention_ms", "How long the flow and its nodes are kept after its end.", "",
        "SubmitFlow"},
    Row{"revision", "Counts changes of the graph."},
    Row{"scheduled", "Nodes that are still to be cancelled."},
    Row{"wait_ms", "Wait so long for the end of the flow; at most 60000.", "", "GetFlow"},
    Row{"wait_ms", "Wait so long until the nodes are cancelled; at most 60000.", "", "CancelFlow"},

    // Of an execution
    Row{"attempts", "How many attempts have begun.", "integer"},
    Row{"cancel_reason", "Why it was cancelled."},
    Row{"content_type", "What the bytes are, such as image/png; handed on as it is."},
    Row{"deadline_ms", "If it has not ended by then, it expires."},
    Row{"delay_ms", "Instead of delay_until_ms: how long from now on.", "", "Submit"},
    Row{"delay_ms", "Instead of until_ms: how long from now on.", "", "Delay"},
    Row{"delay_until_ms", "It does not run before then."},
    Row{"duplicate", "It was there before, just like this; nothing was changed."},
    Row{"idempotency_key",
        "A submit with the same key in the same namespace is the same execution."},
    Row{"kind", "What to run: it chooses the worker's handler."},
    Row{"lane", "The queue it waits in."},
    Row{"namespace", "The tenant it belongs to. Left out: the token's own, or default."},
    Row{"payload", "The bytes it is given, as text.", "string"},
    Row{"payload",
        "The bytes it is given: text as it is, any other JSON value as its JSON text with content "
        "type application/json."},
    Row{"payload_base64", "The bytes it is given, if they are not text."},
    Row{"priority", "0 to 9000; higher runs first, then older."},
    Row{"progress", "How far the newest attempt says it is."},
    Row{"reclaimable",
        "Of these, active without a worker: the lease expired or was revoked, and no worker has "
        "claimed it since."},
    Row{"reclaims", "Attempts after a lost lease, since the last replay."},
    Row{"replays", "How often it was run again after its end."},
    Row{"result",
        "The bytes it ends with: text as it is, any other JSON value as its JSON text with content "
        "type application/json."},
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

    Row{"budget_ids", "What it spends from; it starts only while each of them has room."},
    Row{"quota_policy_id", "It starts only when this quota lets it."},

    // Of budgets
    Row{"action", "Of a hard breach by a running execution: what became of it."},
    Row{"breach", "The first limit that was broken."},
    Row{"breach_count", "Reports that broke a hard limit."},
    Row{"dedup_key", "Repeated with the same within a day, a report counts once."},
    Row{"dimension", "Such as tokens."},
    Row{"dimensions", "How much was used, by dimension: all of it counts, or nothing."},
    Row{"enforcement_mode",
        "strict: hard limits hold; advisory: breaches are counted and told, and nothing waits."},
    Row{"execution_id", "Who spent it; release takes back what this execution spent."},
    Row{"exhausted", "While it keeps work from starting: why."},
    Row{"hard_limits", "By dimension; work that spends from the budget waits from there on."},
    Row{"last_reset_at_ms", "When usage was last set to zero."},
    Row{"next_reset_at_ms", "When usage will be zero again."},
    Row{"on_hard_limit",
        "What becomes of a running execution whose report would break a hard limit: its attempt "
        "fails, it is given back until there is room, or only the report is refused; with warn, "
        "the usage counts."},
    Row{"on_soft_limit", "Whether a report beyond a soft limit is told."},
    Row{"released", "What was taken back; nothing if there was nothing, or it was reset since."},
    Row{"reset_interval_ms", "How often usage is set to zero. Left out: only by hand."},
    Row{"resume_at_ms", "Of a suspended execution: when it is ready again, if that is a time."},
    Row{"scope_id", "Whom it is for; for people."},
    Row{"scope_type", "What it is for, such as tenant or lane; for people."},
    Row{"soft_limits", "By dimension; a report beyond them is told."},
    Row{"usage", "Used since the last reset, by dimension.", "object"},

    // Of quotas
    Row{"in_window", "Starts in the window that ends now."},
    Row{"jitter_ms", "Spreads the time at which those that were refused are let in."},
    Row{"max_concurrent", "How many may run at the same time."},
    Row{"max_per_window", "How many may start in any window."},
    Row{"next_start_at_ms", "If the window is full: when it has room."},
    Row{"running", "How many run now.", "integer"},
    Row{"window_ms", "How long the sliding window is."},

    // Of workers
    Row{"draining", "It gets no more work, and finishes what it has."},
    Row{"expires_at_ms", "Of the others: until then their tokens are valid.", "",
        "WaitpointKeyInfo"},
    Row{"expires_at_ms", "Unless it is heard of before, it counts as dead from then on."},
    Row{"incarnation",
        "A UUID that the worker mints when it starts. While it is heard of, the same worker with "
        "another one is refused."},
    Row{"known", "It was registered already."},
    Row{"running", "What it holds now.", "array"},
    Row{"ttl_ms", "How long it counts as alive after each sign of life."},

    // Of the secrets of waitpoint tokens
    Row{"current", "It signs new tokens."},
    Row{"failed", "Partitions that still sign with the secret before; rotate again.", "array"},
    Row{"in_progress", "Always empty: a partition rotates in one step."},
    Row{"kid", "The id of a secret."},
    Row{"new_kid", "The id of the new secret: letters, digits, '.', '_' and '-'."},
    Row{"new_secret_hex",
        "The new secret in hex digits, two for each byte; 32 bytes are a good "
        "length."},
    Row{"rotated", "Partitions that sign with the new secret."},

    // Of what keeps an execution from running
    Row{"blocking_detail", "If something keeps it from starting: what."},
    Row{"obstacles", "What keeps it from running; nothing: it is free to run."},
    Row{"remedy", "What would let it run."},
    Row{"summary", "Why it is not running now, in a sentence."},

    // Of a claim and its lease
    Row{"attempt_deadline_ms", "When this attempt's time runs out."},
    Row{"attempt_id", "Of the claim; a part of the fence."},
    Row{"attempt_index", "Counts the attempts, from 0."},
    Row{"capabilities", "What this worker has; it gets only what needs no more."},
    Row{"grant_expires_at_ms", "Until then it is set aside for the worker."},
    Row{"granted_to", "The worker that it is set aside for, under a grant."},
    Row{"grant_ttl_ms", "How long it is set aside; at most 60000."},
    Row{"kinds", "The kinds to claim, at most 256. Left out: all kinds."},
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
    Row{"after", "Where to go on: next of the page before. Left out: from now on.", "string",
        "ReadEvents"},
    Row{"after", "Where to go on: next of the page before."},
    Row{"created_before_ms", "Only those submitted before then."},
    Row{"created_from_ms", "Only those submitted then or later."},
    Row{"cursor", "Where to go on: next of the page before."},
    Row{"limit", "What the dimension is limited to.", "integer", "Breach"},
    Row{"limit", "How many at most; 1 to 1000."},
    Row{"missed", "Some events before these are gone: look at what you watch anew."},
    Row{"next", "Where the next page begins."},
    Row{"tag", "key=value: only those with this tag."},
    Row{"types", "Only events of these types; in a query with commas between them."},
    Row{"wait_ms", "With nothing to answer yet, wait so long for it; at most 60000."},

    // Of the server
    Row{"code", "What went wrong, for programs.", "string"},
    Row{"detail", "What went wrong and what to do, for people.", "string", "Problem"},
    Row{"field", "Which field of the request it is about."},
    Row{"retryable", "The same request may succeed later."},
    Row{"scanners", "The background jobs that run."},
};

}  // namespace

std::string_view description_of(const FieldName& field) {
  const auto row = std::ranges::find_if(rows, [&](const Row& each) {
    return each.name == field.name && (each.type.empty() || each.type == field.type) &&
           (each.owner.empty() || each.owner == field.owner);
  });
  return row == rows.end() ? std::string_view{} : row->text;
}

}  // namespace ff::http
