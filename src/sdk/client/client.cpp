#include <flowfabric/client.hpp>

#include <flowfabric/flow.hpp>
#include <flowfabric/wait.hpp>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <span>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/try.hpp"
#include "core/streams/stream.hpp"
#include "core/validation/validate.hpp"
#include "sdk/client/blocking.hpp"
#include "sdk/client/graph_parts.hpp"
#include "sdk/client/repeat.hpp"
#include "sdk/worker/reporting/batch.hpp"
#include "sdk/worker/reporting/retry_pause.hpp"

namespace ff {
namespace {

constexpr Millis follow_wait = std::chrono::seconds{30};
constexpr Millis follow_pause_min{100};
constexpr Millis follow_pause_max = std::chrono::seconds{5};

// Into `field`, unless there is no text.
template <class Id>
Result<void> parse_optional(std::string text, std::optional<Id>& field) {
  if (text.empty()) return {};
  auto parsed = Id::parse(std::move(text));
  FF_TRY(parsed);
  field = std::move(*parsed);
  return {};
}

Result<Submit> to_operation(NewExecution execution) {
  auto ns = Namespace::parse(std::move(execution.ns));
  FF_TRY(ns);
  auto lane = LaneId::parse(std::move(execution.lane));
  FF_TRY(lane);
  auto kind = Kind::parse(std::move(execution.kind));
  FF_TRY(kind);
  Submit submit{.ns = std::move(*ns),
                .lane = std::move(*lane),
                .kind = std::move(*kind),
                .priority = execution.priority,
                .payload = std::move(execution.payload),
                .delay_until = execution.delay_until,
                .deadline = execution.deadline,
                .tags = std::move(execution.tags),
                .policy = std::move(execution.policy),
                .flow = execution.flow,
                .after = std::move(execution.after)};
  for (auto parsed : {parse_optional(std::move(execution.id), submit.id),
                      parse_optional(std::move(execution.node), submit.node),
                      parse_optional(std::move(execution.idempotency_key), submit.idempotency_key),
                      parse_optional(std::move(execution.content_type), submit.content_type),
                      parse_optional(std::move(execution.traceparent), submit.traceparent)})
    FF_TRY(parsed);
  return submit;
}

Result<SendSignal> to_operation(const ExecutionId& id, NewSignal signal) {
  auto name = SignalName::parse(std::move(signal.name));
  FF_TRY(name);
  SendSignal send{.id = id,
                  .name = std::move(*name),
                  .waitpoint = signal.waitpoint,
                  .payload = std::move(signal.payload),
                  .source = std::move(signal.source),
                  .category = std::move(signal.category),
                  .correlation_id = std::move(signal.correlation_id)};
  for (auto parsed : {parse_optional(std::move(signal.content_type), send.content_type),
                      parse_optional(std::move(signal.idempotency_key), send.idempotency_key)})
    FF_TRY(parsed);
  return send;
}

Result<AnswerWaitpoint> to_operation(std::string token, NewAnswer answer) {
  auto signal = SignalName::parse(std::move(answer.signal));
  FF_TRY(signal);
  AnswerWaitpoint operation{.token = std::move(token),
                            .signal = std::move(*signal),
                            .payload = std::move(answer.payload),
                            .comment = std::move(answer.comment)};
  FF_TRY(parse_optional(std::move(answer.content_type), operation.content_type));
  return operation;
}

Limit limit(const ClientOptions& options, Millis wait = {}, std::stop_token stop = {}) {
  return {.timeout = std::clamp(wait, Millis{0}, limits::duration_max) + options.timeout,
          .stop = std::move(stop)};
}

Repeat repeat(const ClientOptions& options) {
  return {.limit = std::min(options.submit_retry, options.timeout), .timeout = options.timeout};
}

// The value of a reply that holds one thing.
template <class Reply, class T>
Result<T> member(Result<Reply> reply, T Reply::*field) {
  FF_TRY(reply);
  return std::move((*reply).*field);
}

template <class Reply>
Result<void> without_value(const Result<Reply>& reply) {
  FF_TRY(reply);
  return {};
}

}  // namespace

template <class Op>
Result<typename Op::Reply> Client::call(Op operation) {
  return run_within(limit(options_), engine_, std::move(operation));
}

// ---- Submitting ---------------------------------------------------------------------------------

Result<SubmitReply> Client::submit(NewExecution execution) {
  auto operation = to_operation(std::move(execution));
  FF_TRY(operation);
  return run_within(limit(options_), engine_,
                    submit_repeatedly(engine_, std::move(*operation), repeat(options_)));
}

std::vector<Result<SubmitReply>> Client::submit_many(std::vector<NewExecution> executions) {
  std::vector<Result<SubmitReply>> replies;
  std::vector<Submit> submits;
  std::vector<std::size_t> places;
  for (auto& execution : executions) {
    auto submit = to_operation(std::move(execution));
    // One that is too large would have its whole batch refused.
    if (submit)
      if (auto valid = core::validate(*submit, core::any_partition); !valid)
        submit = std::unexpected(valid.error());
    replies.push_back(std::unexpected(submit ? Error{} : submit.error()));
    if (!submit) continue;
    submits.push_back(std::move(*submit));
    places.push_back(replies.size() - 1);
  }

  std::span<Submit> rest(submits);
  while (!rest.empty()) {
    const auto count = batch_size(rest, [](const Submit& each) { return each.payload.size(); });
    const auto batch = rest.first(count);
    const auto first = submits.size() - rest.size();
    SubmitMany many{{std::make_move_iterator(batch.begin()), std::make_move_iterator(batch.end())}};
    const auto answer = run_within(limit(options_), engine_,
                                   submit_repeatedly(engine_, std::move(many), repeat(options_)));
    for (std::size_t i = 0; i < count; ++i) replies[places[first + i]] = item_result(answer, i);
    rest = rest.subspan(count);
  }
  return replies;
}

// ---- Reading ------------------------------------------------------------------------------------

Result<std::string> Client::result(const ExecutionId& id, Millis timeout) {
  return run_within(limit(options_, timeout), engine_, wait_for_result(engine_, id, timeout));
}

Result<Bytes> Client::result_bytes(const ExecutionId& id, Millis timeout) {
  return run_within(limit(options_, timeout), engine_, wait_for_result_bytes(engine_, id, timeout));
}

Result<ExecutionInfo> Client::wait(const ExecutionId& id, Millis timeout) {
  return run_within(limit(options_, timeout), engine_, wait_for_end(engine_, id, timeout));
}

Result<ExecutionInfo> Client::get(const ExecutionId& id) { return call(GetExecution{id}); }

Result<ExecutionState> Client::state(const ExecutionId& id) {
  return member(call(GetState{id}), &StateReply::state);
}

Result<std::string> Client::payload(const ExecutionId& id) {
  return member(call(GetPayload{id}), &Bytes::bytes);
}

Result<Bytes> Client::payload_bytes(const ExecutionId& id) { return call(GetPayload{id}); }

Result<std::vector<AttemptInfo>> Client::attempts(const ExecutionId& id) {
  return member(call(GetAttempts{id}), &Attempts::attempts);
}

Result<std::vector<LeaseEvent>> Client::lease_history(const ExecutionId& id) {
  return member(call(GetLeaseHistory{id}), &LeaseHistory::events);
}

Result<std::vector<StateCount>> Client::counts(CountExecutions which) {
  return member(call(std::move(which)), &StateCounts::counts);
}

Result<ExecutionList> Client::list(ListExecutions which) { return call(std::move(which)); }

Result<void> Client::for_each(ListExecutions which,
                              const std::function<bool(const ExecutionInfo&)>& each) {
  do {
    auto page = list(which);
    FF_TRY(page);
    for (const auto& execution : page->executions)
      if (!each(execution)) return {};
    which.cursor = std::move(page->next);
  } while (which.cursor);
  return {};
}

// ---- Operating ----------------------------------------------------------------------------------

Result<ExecutionState> Client::cancel(const ExecutionId& id, std::string reason) {
  return member(call(Cancel{.id = id, .reason = std::move(reason)}), &EndReply::state);
}

Result<ExecutionState> Client::replay(const ExecutionId& id, std::string reason,
                                      std::string requested_by) {
  return member(call(Replay{id, std::move(reason), std::move(requested_by)}), &EndReply::state);
}

Result<PriorityReply> Client::change_priority(const ExecutionId& id, std::int32_t priority) {
  return call(ChangePriority{id, priority});
}

Result<Tags> Client::set_tags(const ExecutionId& id, Tags set, std::vector<std::string> remove) {
  return member(call(SetTags{id, std::move(set), std::move(remove)}), &TagsReply::tags);
}

Result<RevokeStatus> Client::revoke_lease(const ExecutionId& id, std::string reason) {
  return member(call(RevokeLease{.id = id, .reason = std::move(reason)}), &RevokeReply::status);
}

// ---- Executions that wait -------------------------------------------------------------------------

Result<SignalReply> Client::signal(const ExecutionId& id, NewSignal signal) {
  auto operation = to_operation(id, std::move(signal));
  FF_TRY(operation);
  return run_within(limit(options_), engine_,
                    signal_repeatedly(engine_, std::move(*operation), repeat(options_)));
}

Result<ExecutionState> Client::resume(const ExecutionId& id, std::string reason) {
  return member(call(Resume{.id = id, .reason = std::move(reason)}), &EndReply::state);
}

Result<SuspensionReply> Client::suspension(const ExecutionId& id) {
  return call(GetSuspension{id});
}

Result<std::vector<WaitpointInfo>> Client::waitpoints(const ExecutionId& id) {
  std::vector<WaitpointInfo> all;
  ListWaitpoints list{.id = id, .limit = limits::list_page_max};
  do {
    auto page = call(list);
    FF_TRY(page);
    std::ranges::move(page->waitpoints, std::back_inserter(all));
    list.cursor = std::move(page->next);
  } while (list.cursor);
  return all;
}

Result<IssuedWaitpoint> Client::tokens(const ExecutionId& id, const WaitpointId& waitpoint) {
  return call(GetWaitpointTokens{.id = id, .waitpoint = waitpoint});
}

Result<std::vector<ReceivedSignal>> Client::signals(const ExecutionId& id) {
  std::vector<ReceivedSignal> all;
  for (std::optional<std::uint32_t> from = 0; from;) {
    auto page = call(GetSignals{.id = id, .from = *from, .limit = limits::list_page_max});
    FF_TRY(page);
    std::ranges::move(page->signals, std::back_inserter(all));
    from = page->next;
  }
  return all;
}

Result<std::vector<StepInfo>> Client::steps(const ExecutionId& id) {
  return member(call(ListSteps{id}), &StepList::steps);
}

Result<Bytes> Client::step(const ExecutionId& id, std::string name) {
  auto step = StepName::parse(std::move(name));
  FF_TRY(step);
  return call(GetStep{.id = id, .name = std::move(*step)});
}

Result<std::vector<StreamInfo>> Client::streams(const ExecutionId& id) {
  return member(call(ListStreams{id}), &StreamList::streams);
}

Result<StreamPage> Client::read_stream(ReadStream which) {
  const auto wait = which.wait;
  return run_within(limit(options_, wait), engine_,
                    run_repeatedly(engine_, std::move(which), repeat(options_)));
}

// A reader comes back to a server that restarts; a place is a number, which stays.
constexpr Millis tail_outage_max = std::chrono::minutes{2};

Result<std::uint64_t> Client::tail(ReadStream which,
                                   const std::function<bool(const Frame&)>& each) {
  constexpr Millis wait = std::chrono::seconds{20};
  which.wait = Millis{0};
  Millis outage_max = repeat(options_).limit;  // of the first page, which does not wait, as of other calls
  while (true) {
    const auto page =
        run_within({.timeout = wait + tail_outage_max + options_.timeout}, engine_,
                   run_repeatedly(engine_, ReadStream(which),
                                  {.limit = outage_max, .timeout = options_.timeout}));
    FF_TRY(page);
    which.wait = wait;
    outage_max = wait + tail_outage_max;
    for (const auto& frame : core::told_before(*page, which.from))
      if (!each(frame)) return page->next;
    for (const auto& frame : page->frames)
      if (!each(frame)) return frame.number + 1;
    which.from = page->next;
    if (page->end) return which.from;
  }
}

Result<WaitpointView> Client::waitpoint(std::string token) {
  return call(ReadWaitpoint{std::move(token)});
}

Result<AnswerReply> Client::answer(std::string token, NewAnswer answer) {
  auto operation = to_operation(std::move(token), std::move(answer));
  FF_TRY(operation);
  return run_within(limit(options_), engine_,
                    run_repeatedly(engine_, std::move(*operation), repeat(options_)));
}

// ---- Flows --------------------------------------------------------------------------------------

Result<FlowReply> Client::submit_graph(const Flow& flow) {
  auto operation = flow.to_operation();
  FF_TRY(operation);
  return submit_flow(std::move(*operation));
}

Result<FlowReply> Client::submit_flow(SubmitFlow submit) {
  const auto run = [&](auto operation) {
    return run_within(limit(options_), engine_,
                      run_repeatedly(engine_, std::move(operation), repeat(options_)));
  };
  if (submit.dry_run) return run(std::move(submit));
  auto parts = graph_parts(std::move(submit.nodes));
  FF_TRY(parts);
  const bool minted = !submit.id && !submit.idempotency_key;
  SystemRandom random;
  if (minted) submit.id = FlowId{make_uuid(SystemClock().now(), random)};
  const bool is_to_seal = !submit.building && parts->size() > 1;
  submit.building = submit.building || is_to_seal;
  submit.nodes = std::move(parts->front());
  auto reply = run(std::move(submit));
  FF_TRY(reply);
  if (minted) reply->duplicate = false;
  // A repeated submit goes on where the first one stopped.
  if (reply->flow.state != FlowState::building) return reply;
  for (std::size_t i = 1; i < parts->size(); ++i) {
    auto extended = run(ExtendFlow{.id = reply->flow.id, .nodes = std::move((*parts)[i])});
    FF_TRY(extended);
    reply->flow = std::move(*extended);
  }
  if (!is_to_seal) return reply;
  auto sealed = run(SealFlow{reply->flow.id});
  // The reply to an earlier try was lost.
  if (!sealed && sealed.error().code == Errc::flow_not_building) sealed = flow(reply->flow.id);
  FF_TRY(sealed);
  reply->flow = std::move(*sealed);
  return reply;
}

Result<FlowInfo> Client::flow(const FlowId& id) { return call(GetFlow{.id = id}); }

Result<FlowInfo> Client::wait(const FlowId& id, Millis timeout) {
  return run_within(limit(options_, timeout), engine_, wait_for_flow(engine_, id, timeout));
}

Result<Bytes> Client::flow_result(const FlowId& id, Millis timeout) {
  const auto ended = wait(id, timeout);
  FF_TRY(ended);
  if (!ended->ended_at)
    return fail(Errc::execution_not_terminal,
                fmt::format("flow {} is still {}", id.str(), to_string(ended->state)));
  if (ended->state != FlowState::completed)
    return fail(Errc::execution_failed,
                fmt::format("flow {} is {}{}{}", id.str(), to_string(ended->state),
                            ended->reason.empty() ? "" : ": ", ended->reason));
  if (!ended->result)
    return fail(Errc::invalid_input,
                fmt::format("flow {} names no node whose result is its own", id.str()));
  return result_bytes(*ended->result, Millis{0});
}

Result<std::vector<FlowNodeInfo>> Client::flow_nodes(const FlowId& id) {
  std::vector<FlowNodeInfo> all;
  for (std::optional<std::uint32_t> from = 0; from;) {
    auto page = call(ListFlowNodes{.id = id, .from = *from});
    FF_TRY(page);
    std::ranges::move(page->nodes, std::back_inserter(all));
    from = page->next;
  }
  return all;
}

Result<FlowList> Client::flows(ListFlows which) { return call(std::move(which)); }

Result<std::vector<NodeInput>> Client::inputs(const ExecutionId& node) {
  std::vector<NodeInput> all;
  for (std::optional<std::uint32_t> from = 0; from;) {
    auto page = call(GetInputs{.id = node, .from = *from});
    FF_TRY(page);
    std::ranges::move(page->inputs, std::back_inserter(all));
    from = page->next;
  }
  return all;
}

Result<CancelFlowReply> Client::cancel_flow(CancelFlow which) {
  return run_within(limit(options_, which.wait), engine_, which);
}
Result<FlowInfo> Client::pause_flow(const FlowId& id, std::string reason) {
  return call(PauseFlow{.id = id, .reason = std::move(reason)});
}
Result<FlowInfo> Client::resume_flow(const FlowId& id) { return call(ResumeFlow{id}); }
Result<RedriveReply> Client::redrive_flow(RedriveFlow which) { return call(std::move(which)); }

// ---- Explaining ---------------------------------------------------------------------------------

Result<Why> Client::why(const ExecutionId& id) { return call(ExplainExecution{id}); }

// ---- Budgets, quotas and workers ----------------------------------------------------------------

Result<CreateBudgetReply> Client::create_budget(CreateBudget budget) {
  return call(std::move(budget));
}
Result<BudgetInfo> Client::budget(const BudgetId& id) { return call(GetBudget{id}); }
Result<BudgetList> Client::budgets(ListBudgets which) { return call(std::move(which)); }
Result<UsageReply> Client::report_usage(ReportUsage report) { return call(std::move(report)); }
Result<Amounts> Client::release_usage(const BudgetId& id, const ExecutionId& execution) {
  return member(call(ReleaseUsage{id, execution}), &ReleaseUsageReply::released);
}
Result<void> Client::reset_budget(const BudgetId& id) {
  return without_value(call(ResetBudget{id}));
}
Result<void> Client::delete_budget(const BudgetId& id) {
  return without_value(call(DeleteBudget{id}));
}

Result<CreateQuotaReply> Client::create_quota(CreateQuota quota) { return call(std::move(quota)); }
Result<QuotaInfo> Client::quota(const QuotaId& id) { return call(GetQuota{id}); }
Result<QuotaList> Client::quotas(ListQuotas which) { return call(std::move(which)); }
Result<void> Client::delete_quota(const QuotaId& id) {
  return without_value(call(DeleteQuota{id}));
}

Result<std::vector<WorkerStatus>> Client::workers(ListWorkers which) {
  return member(call(std::move(which)), &WorkerList::workers);
}
Result<WorkerStatus> Client::worker(GetWorker which) { return call(std::move(which)); }
Result<WorkerInfo> Client::drain_worker(DrainWorker which) { return call(std::move(which)); }

Result<LanePauseReply> Client::pause_lane(PauseLane which) { return call(std::move(which)); }
Result<LanePauseReply> Client::resume_lane(ResumeLane which) { return call(std::move(which)); }
Result<LaneList> Client::lanes(ListLanes which) { return call(std::move(which)); }
Result<AuditPage> Client::audit(ReadAudit which) { return call(std::move(which)); }
Result<Identity> Client::whoami() { return call(WhoAmI{}); }

// ---- Events -------------------------------------------------------------------------------------

Result<EventPage> Client::events(ReadEvents which) {
  return run_within(limit(options_, which.wait), engine_, which);
}

Result<void> Client::subscribe(ReadEvents which, const Subscriber& subscriber,
                               std::stop_token stop) {
  // A place first: an event during the first wait would be lost with its answer.
  which.wait = Millis{0};
  auto page = events(which);
  SystemRandom random;
  RetryPause pause(random, follow_pause_min, follow_pause_max);
  std::mutex mutex;
  std::condition_variable_any stopped;
  while (!stop.stop_requested()) {
    if (page) {
      pause.reset();
      if (page->missed && subscriber.on_missed) subscriber.on_missed();
      for (const auto& event : page->events)
        if (!subscriber.on_event(event)) return {};
      which.after = std::move(page->next);
      which.wait = follow_wait;
    } else {
      const bool subscribed = which.wait > Millis{0};
      if (!subscribed || !page.error().retryable()) return std::unexpected(page.error());
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, pause.next(), [] { return false; });
    }
    page = run_within(limit(options_, which.wait, stop), engine_, which);
  }
  return {};
}

}  // namespace ff
