// Where each operation is found over HTTP, and who may ask for it.
#pragma once

#include <flowfabric/engine.hpp>

#include <string_view>

#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>

#include "http/server/access.hpp"

namespace ff::http {

namespace beast = boost::beast;
using Verb = beast::http::verb;
using Status = beast::http::status;

// What a request came to, in one word: the first field of a JSON reply. None for what only reads.
struct Words {
  std::string_view usual = "";
  std::string_view otherwise = "";
};

struct Endpoint {
  Verb method;
  std::string_view path;  // {name} stands for the request field of that name
  Role role;              // of those who may ask
  std::string_view summary;
  Words words = {};
};

template <class Op>
inline constexpr Endpoint endpoint = Op::no_endpoint_yet;

// A long poll: `wait` says how long the answer may take.
template <class Op>
concept Waiting = requires(Op operation) {
  operation.wait;
};

// Concerns one namespace, which its sender may name.
template <class Op>
concept NamesNamespace = requires(Op operation) {
  operation.ns;
};

// The reply to what makes something, or finds that it is there.
template <class Reply>
concept Creates = requires(Reply reply) {
  reply.duplicate;
};

// Others have all their fields in the URL.
constexpr bool has_body(Verb method) { return method != Verb::get && method != Verb::delete_; }

// A reply that is the body itself, as it is, instead of a JSON object.
template <class Reply>
inline constexpr bool is_raw_body = std::same_as<Reply, Bytes>;

// Of bytes whose content type nobody told.
inline constexpr std::string_view unknown_content_type = "application/octet-stream";

// The field that a request's body is, as it is, if its content type is not JSON.
template <class Op>
inline constexpr std::string_view raw_body_field = "";
template <>
inline constexpr std::string_view raw_body_field<Submit> = "payload";
template <>
inline constexpr std::string_view raw_body_field<Complete> = "result";

// Its request is a list, and may be as large as all its items.
template <class Op>
concept Batched = requires(Op operation) {
  operation.executions;
};

// What operators do is told in the log.
template <class Op>
inline constexpr bool is_audited =
    std::same_as<Op, Cancel> || std::same_as<Op, RevokeLease> || std::same_as<Op, ChangePriority> ||
    std::same_as<Op, SetTags> || std::same_as<Op, Replay> || std::same_as<Op, Backup> ||
    std::same_as<Op, CreateBudget> || std::same_as<Op, ResetBudget> ||
    std::same_as<Op, DeleteBudget> || std::same_as<Op, CreateQuota> ||
    std::same_as<Op, DeleteQuota> || std::same_as<Op, DrainWorker>;

#define FF_ENDPOINT(Op, method, path, role, summary, ...)          \
  template <>                                                      \
  inline constexpr Endpoint endpoint<Op> {                         \
    Verb::method, path, Role::role, summary, Words { __VA_ARGS__ } \
  }

FF_ENDPOINT(Submit, post, "/v1/executions", submit, "Submit an execution", "created", "duplicate");
FF_ENDPOINT(SubmitMany, post, "/v1/executions/batch", submit, "Submit many executions at once");
FF_ENDPOINT(ListExecutions, get, "/v1/executions", read, "List executions, the newest first");
FF_ENDPOINT(CountExecutions, get, "/v1/counts", read, "Count executions by lane and state");
FF_ENDPOINT(GetExecution, get, "/v1/executions/{id}", read, "Show an execution");
FF_ENDPOINT(GetState, get, "/v1/executions/{id}/state", read, "Show the state of an execution");
FF_ENDPOINT(GetPayload, get, "/v1/executions/{id}/payload", read, "The bytes of a payload");
FF_ENDPOINT(GetResult, get, "/v1/executions/{id}/result", read,
            "The bytes of a result, waiting for the end if asked to");
FF_ENDPOINT(GetAttempts, get, "/v1/executions/{id}/attempts", read, "The attempts at an execution");
FF_ENDPOINT(GetLeaseHistory, get, "/v1/executions/{id}/lease-history", read,
            "Every lease of an execution");
FF_ENDPOINT(ReadEvents, get, "/v1/events", read,
            "Lifecycle events, a page at a time or as a stream (Accept: text/event-stream)");
FF_ENDPOINT(Claim, post, "/v1/workers/{worker}/claim-with-lease", work,
            "Claim executions under leases, waiting for work if asked to", "claimed", "empty");
FF_ENDPOINT(Grant, post, "/v1/workers/{worker}/claim", work, "Set the best execution aside",
            "granted");
FF_ENDPOINT(ClaimGranted, post, "/v1/executions/{id}/claim-granted", work,
            "Turn a grant into a lease", "claimed");
FF_ENDPOINT(ClaimExecution, post, "/v1/executions/{id}/claim", work,
            "Claim one execution by its id", "claimed");
FF_ENDPOINT(Renew, post, "/v1/executions/{id}/renew", work, "Prolong a lease", "renewed");
FF_ENDPOINT(UpdateProgress, post, "/v1/executions/{id}/progress", work, "Tell how far it is",
            "updated");
FF_ENDPOINT(Complete, post, "/v1/executions/{id}/complete", work, "End it with a result",
            "completed");
FF_ENDPOINT(CompleteMany, post, "/v1/complete-batch", work, "End many with their results");
FF_ENDPOINT(Fail, post, "/v1/executions/{id}/fail", work, "End the attempt in failure", "failed",
            "retry_scheduled");
FF_ENDPOINT(Delay, post, "/v1/executions/{id}/delay", work, "Give it back until a time", "delayed");
FF_ENDPOINT(HandBack, post, "/v1/executions/{id}/hand-back", work,
            "Give it back for another worker to go on with at once", "handed_back");
FF_ENDPOINT(WaitForChildren, post, "/v1/executions/{id}/wait-for-children", work,
            "Give it back until those it depends on have ended", "waiting_children");
FF_ENDPOINT(Cancel, post, "/v1/executions/{id}/cancel", submit, "End it, whatever it is doing",
            "cancelled");
FF_ENDPOINT(RevokeLease, post, "/v1/executions/{id}/revoke-lease", admin,
            "Take the lease away from its worker");
FF_ENDPOINT(ChangePriority, put, "/v1/executions/{id}/priority", submit, "Change its priority",
            "changed");
FF_ENDPOINT(SetTags, post, "/v1/executions/{id}/tags", submit, "Set and remove tags", "changed");
FF_ENDPOINT(Replay, post, "/v1/executions/{id}/replay", submit, "Run it once more from the start",
            "replayed");
FF_ENDPOINT(ExplainExecution, get, "/v1/executions/{id}/why", read,
            "Why it is not running, and what would let it run");
FF_ENDPOINT(CreateBudget, post, "/v1/budgets", admin, "Create a budget", "created", "duplicate");
FF_ENDPOINT(ListBudgets, get, "/v1/budgets", read, "List the budgets of a namespace");
FF_ENDPOINT(GetBudget, get, "/v1/budgets/{id}", read, "Show a budget and its usage");
FF_ENDPOINT(ReportUsage, post, "/v1/budgets/{id}/usage", work, "Report what was used");
FF_ENDPOINT(ReleaseUsage, post, "/v1/budgets/{id}/release", work,
            "Take back what an execution has spent", "released");
FF_ENDPOINT(ResetBudget, post, "/v1/budgets/{id}/reset", admin, "Set its usage to zero", "reset");
FF_ENDPOINT(DeleteBudget, delete_, "/v1/budgets/{id}", admin, "Delete a budget", "deleted");
FF_ENDPOINT(CreateQuota, post, "/v1/quotas", admin, "Create a quota", "created", "duplicate");
FF_ENDPOINT(ListQuotas, get, "/v1/quotas", read, "List the quotas of a namespace");
FF_ENDPOINT(GetQuota, get, "/v1/quotas/{id}", read, "Show a quota and how full it is");
FF_ENDPOINT(DeleteQuota, delete_, "/v1/quotas/{id}", admin, "Delete a quota", "deleted");
FF_ENDPOINT(RegisterWorker, post, "/v1/workers/{worker}/register", work,
            "Make a worker known, with its lanes and capabilities", "registered");
FF_ENDPOINT(HeartbeatWorker, post, "/v1/workers/{worker}/heartbeat", work,
            "Tell that a worker is alive", "alive");
FF_ENDPOINT(DeregisterWorker, post, "/v1/workers/{worker}/deregister", work,
            "Forget a worker that stops", "deregistered");
FF_ENDPOINT(DrainWorker, post, "/v1/workers/{worker}/drain", admin,
            "Give a worker no more work, or work again", "changed");
FF_ENDPOINT(ListWorkers, get, "/v1/workers", read, "List the workers that are alive");
FF_ENDPOINT(GetWorker, get, "/v1/workers/{worker}", read, "Show a worker and what it runs");
FF_ENDPOINT(Backup, post, "/v1/backups", admin, "Save everything while the server goes on",
            "saved");
FF_ENDPOINT(Health, get, "/healthz", nobody, "Whether the server can save what it is given");
FF_ENDPOINT(CheckReady, get, "/readyz", nobody, "Whether everything that the server needs works");
FF_ENDPOINT(GetMetrics, get, "/metrics", read, "Metrics for Prometheus");
#undef FF_ENDPOINT

// Whether a reply is the endpoint's second word.
inline bool is_otherwise(const ClaimReply& reply) { return reply.executions.empty(); }
inline bool is_otherwise(const FailReply& reply) { return reply.retry_at.has_value(); }
template <class Reply>
bool is_otherwise(const Reply& reply) {
  if constexpr (Creates<Reply>)
    return reply.duplicate;
  else
    return false;
}

template <class Reply>
Status http_status(const Reply& reply) {
  return Creates<Reply> && !is_otherwise(reply) ? Status::created : Status::ok;
}
inline Status http_status(const GrantReply& reply) {
  return reply.execution ? Status::ok : Status::no_content;
}
inline Status http_status(const Bytes& reply) {
  return reply.absent ? Status::no_content : Status::ok;
}

}  // namespace ff::http
