#include "tests/crash/load.hpp"

#include <random>
#include <thread>

#include "sdk/client/blocking.hpp"
#include "tests/crash/engine.hpp"
#include "tests/crash/journal.hpp"

namespace ff::crash {
namespace {

constexpr int threads = 5;
constexpr Millis lease_ttl = 100ms;
constexpr std::uint64_t keys = 400;
const Kind brief = *Kind::parse("brief");  // forgotten soon after its end

// Answers that a call may get when others work on the same execution.
bool is_expected(Errc code) {
  switch (code) {
    case Errc::execution_not_found:
    case Errc::execution_not_active:
    case Errc::execution_not_eligible:
    case Errc::execution_not_leaseable:
    case Errc::execution_not_terminal:
    case Errc::max_replays_exhausted:
    case Errc::grant_already_exists:
    case Errc::invalid_claim_grant:
    case Errc::claim_grant_expired:
    case Errc::stale_lease:
    case Errc::lease_expired:
    case Errc::lease_revoked:
    case Errc::execution_not_suspended:
    case Errc::target_not_signalable:
    case Errc::flow_already_terminal:
    case Errc::stream_sequence_gap: return true;
    default: return false;
  }
}

// One thread's part of the load: submits, works on what it claims, and meddles with its own.
class Caller {
 public:
  Caller(Engine& engine, Journal& journal, std::uint64_t seed, int number)
      : engine_(engine),
        journal_(journal),
        random_(seed * 31 + static_cast<std::uint64_t>(number)),
        worker_(*WorkerId::parse(fmt::format("w{}", number))) {}

  void run() {
    while (true) {
      const auto dice = below(100);
      if (dice < 28)
        submit();
      else if (dice < 30)
        submit_flow();
      else if (dice < 37)
        submit_many();
      else if (dice < 80)
        claim_and_work();
      else if (dice < 84)
        claim_by_grant();
      else if (dice < 88)
        cancel();
      else if (dice < 92)
        replay();
      else if (dice < 96)
        tag();
      else if (dice < 98)
        meddle();
      else if (dice < 99)
        cancel_flow();
      else
        look();
    }
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }

  // The reply, or none if others were in the way. Anything else is a failure of the engine.
  template <class Op>
  std::optional<typename Op::Reply> call(Op operation) {
    return check(run_blocking(engine_, std::move(operation)));
  }
  template <class Reply>
  std::optional<Reply> check(Result<Reply> reply) {
    if (reply) return std::move(*reply);
    if (!is_expected(reply.error().code))
      journal_.tell("broken", reply.error().name(), reply.error().message);
    return std::nullopt;
  }

  // ---- Submitting ---------------------------------------------------------------------------------

  Submit new_execution() {
    const auto lanes = all_lanes();
    Submit submit{.lane = lanes[below(lanes.size())],
                  .kind = *Kind::parse("crash"),
                  .priority = static_cast<std::int32_t>(below(10)),
                  .payload = std::string(chance(10) ? 5'000 : below(200), 'p')};
    if (chance(50))
      submit.policy.retry =
          RetryPolicy{.max_retries = 5, .backoff = FixedBackoff{Millis{below(60)}}};
    if (chance(20))
      submit.delay_until =
          std::chrono::floor<Millis>(std::chrono::system_clock::now()) + Millis{below(80)};
    if (chance(30)) submit.tags = {{"app.number", "0"}, {"app.lane", submit.lane.str()}};
    if (chance(10)) submit.policy.required_capabilities = all_capabilities();
    if (chance(5)) submit.policy.attempt_timeout = 50ms;
    if (chance(3)) submit.policy.execution_deadline = 80ms;
    if (chance(10)) {
      submit.kind = brief;
      submit.policy.retention = 20ms;
    }
    return submit;
  }

  // The same key always goes with the same content, so a repeated one is a duplicate.
  Submit with_key() {
    const auto number = below(keys);
    return {.idempotency_key = *IdempotencyKey::parse(fmt::format("key-{}", number)),
            .lane = all_lanes()[0],
            .kind = *Kind::parse("crash"),
            .payload = std::string(number, 'k')};
  }

  void tell_submitted(const Submit& submit, const SubmitReply& reply) {
    if (submit.kind == brief)
      journal_.tell("brief", reply.id.str());
    else
      journal_.tell("submitted", reply.id.str(),
                    submit.idempotency_key ? submit.idempotency_key->str() : "-");
    if (!reply.duplicate) remember(reply.id);
  }

  void submit() {
    const auto submit = chance(15) ? with_key() : new_execution();
    if (const auto reply = call(submit)) tell_submitted(submit, *reply);
  }

  void submit_many() {
    SubmitMany many;
    for (std::uint64_t i = 0, size = 1 + below(20); i < size; ++i)
      many.executions.push_back(chance(15) ? with_key() : new_execution());
    const auto submits = many.executions;
    auto reply = call(std::move(many));
    if (!reply) return;
    for (std::size_t i = 0; i < submits.size(); ++i)
      if (const auto each = check(std::move(reply->results[i]))) tell_submitted(submits[i], *each);
  }

  // ---- Flows --------------------------------------------------------------------------------------

  FlowNode new_node(std::string name, std::vector<Dependency> after = {}) {
    const auto lanes = all_lanes();
    FlowNode node{.name = *NodeName::parse(std::move(name)),
                  .lane = lanes[below(lanes.size())],
                  .kind = *Kind::parse("crash"),
                  .after = std::move(after)};
    if (chance(50)) node.policy.retry = RetryPolicy{.max_retries = 5};
    return node;
  }

  // A chain of fans: each of its nodes waits for all before it. Some are wider than one step of the engine.
  std::vector<FlowNode> new_graph() {
    std::vector<FlowNode> nodes{new_node("first")};
    std::vector<Dependency> last{{.node = nodes.back().name}};
    for (std::uint64_t stage = 0, stages = 1 + below(3); stage < stages; ++stage) {
      std::vector<Dependency> fan;
      for (std::uint64_t i = 0, width = chance(5) ? 130 : 1 + below(4); i < width; ++i) {
        nodes.push_back(new_node(fmt::format("n{}-{}", stage, i), last));
        fan.push_back({.node = nodes.back().name});
      }
      nodes.push_back(new_node(fmt::format("join{}", stage), fan));
      last = {{.node = nodes.back().name}};
    }
    return nodes;
  }

  void submit_flow() {
    auto nodes = new_graph();
    const auto count = nodes.size();
    SubmitFlow submit{.nodes = std::move(nodes), .building = chance(20)};
    submit.on_failure = chance(30) ? FlowFailure::stop : FlowFailure::finish;
    const bool building = submit.building;
    const auto reply = call(std::move(submit));
    if (!reply) return;
    const auto id = reply->flow.id;
    journal_.tell("flow", id.str(), count);
    keep(flows_, id);
    if (!building) return;
    if (call(ExtendFlow{.id = id,
                        .nodes = {new_node("last", {{.node = *NodeName::parse("first")}})}}))
      journal_.tell("flow", id.str(), count + 1);
    call(SealFlow{id});
  }

  void cancel_flow() {
    if (flows_.empty()) return;
    call(CancelFlow{.id = flows_[below(flows_.size())],
                    .reason = "not needed",
                    .policy = static_cast<CancelPolicy>(below(3))});
  }

  // No node of these flows runs again, so that those before it stay completed.
  void check_inputs(const ExecutionId& node) {
    const auto page = call(GetInputs{.id = node});
    if (!page) return;
    for (const auto& input : page->inputs)
      if (input.state != ExecutionState::completed)
        journal_.tell("broken", node.str(), "was claimed before", input.node.str(), "completed");
  }

  // ---- Working ------------------------------------------------------------------------------------

  void claim_and_work() {
    Claim claim{.worker = worker_,
                .lanes = all_lanes(),
                .capabilities = chance(50) ? all_capabilities() : CapabilitySet{},
                .max = static_cast<std::uint32_t>(1 + below(12)),
                .lease_ttl = lease_ttl};
    auto reply = call(std::move(claim));
    if (!reply) return;
    for (const auto& execution : reply->executions) tell_claimed(execution);
    if (chance(40)) return complete_many(reply->executions);
    for (const auto& execution : reply->executions) work(execution);
  }

  void claim_by_grant() {
    const auto granted =
        call(Grant{.worker = worker_, .lanes = all_lanes(), .grant_ttl = lease_ttl});
    if (!granted || !granted->execution || chance(20)) return;
    const auto claimed =
        call(ClaimGranted{.id = granted->execution->id, .worker = worker_, .lease_ttl = lease_ttl});
    if (!claimed) return;
    tell_claimed(*claimed);
    work(*claimed);
  }

  void tell_claimed(const ClaimedExecution& execution) {
    // The thread that submitted it may not get to report it.
    if (execution.kind == brief) journal_.tell("brief", execution.id.str());
    if (execution.flow) check_inputs(execution.id);
    journal_.tell("claimed", execution.id.str(), epoch(execution.fence));
  }

  void work(const ClaimedExecution& execution) {
    const auto& [id, fence] = std::pair{execution.id, execution.fence};
    if (chance(30)) write_frames(execution);
    const auto dice = below(100);
    if (dice < 10) return;  // its worker vanishes
    if (dice < 20) call(Renew{.id = id, .fence = fence, .lease_ttl = lease_ttl});
    if (dice < 25) call(UpdateProgress{.id = id, .fence = fence, .percent = 50});
    if (dice < 75)
      complete(execution);
    else if (dice < 92)
      fail(execution);
    else if (dice < 96)
      call(Delay{.id = id,
                 .fence = fence,
                 .until = std::chrono::floor<Millis>(std::chrono::system_clock::now()) + 30ms});
    else if (dice < 97 && chance(70))
      suspend(execution);
    else if (dice < 97)
      call(WaitForChildren{.id = id, .fence = fence});
    else if (dice < 98)
      call(HandBack{.id = id, .fence = fence});
    else if (call(Cancel{.id = id, .reason = "by its worker", .fence = fence}))
      journal_.tell("cancelled", id.str());
  }

  // To two streams, of which one waits for the disk. Some appends are sent twice.
  void write_frames(const ClaimedExecution& execution) {
    const auto name = StreamName::parse(chance(70) ? std::string(durable_stream) : "buffered");
    AppendFrames append{.id = execution.id,
                        .stream = *name,
                        .fence = execution.fence,
                        .frames = {},
                        .durability = StreamClass::durable};
    if (append.stream.str() != durable_stream) append.durability = StreamClass::buffered;
    // An attempt that was paused may have written before.
    const auto streams = call(ListStreams{execution.id});
    if (!streams) return;
    for (const auto& each : streams->streams)
      if (each.name == append.stream && each.attempt == execution.attempt_index)
        append.written = each.written;
    for (std::uint64_t i = 0, appends = 1 + below(4); i < appends; ++i) {
      append.frames.clear();
      for (std::uint64_t j = 0, count = 1 + below(8); j < count; ++j)
        append.frames.push_back({.bytes = fmt::format("{} {} {} {}", execution.id.str(),
                                                      append.stream.str(), execution.attempt_index,
                                                      append.written + j)});
      auto reply = call(append);
      if (reply && chance(20)) reply = call(append);
      if (!reply) return;
      append.written += append.frames.size();
      if (append.stream.str() == durable_stream)
        journal_.tell("wrote", execution.id.str(), reply->next);
    }
    keep(written_, execution.id);
  }

  // Frames that a reader has seen are there after a crash, too.
  void read_frames() {
    if (written_.empty()) return;
    const auto id = written_[below(written_.size())];
    const auto page = call(ReadStream{.id = id,
                                      .stream = *StreamName::parse(std::string(durable_stream)),
                                      .limit = limits::stream_page_max});
    if (!page || page->frames.empty()) return;
    for (std::size_t i = 0; i < page->frames.size(); ++i)
      if (page->frames[i].number != i)
        journal_.tell("broken", id.str(), "has a frame", page->frames[i].number, "where", i, "is due");
    journal_.tell("wrote", id.str(), page->next);
  }

  // Some wait for a signal, some for two, some for their timeout.
  void suspend(const ClaimedExecution& execution) {
    Suspend suspend{.id = execution.id, .fence = execution.fence, .state = "half-way"};
    suspend.condition = {CountOf{.n = static_cast<std::uint32_t>(1 + below(2))}};
    suspend.waitpoints = {{.key = *WaitpointKey::parse("w")}};
    if (chance(30)) {
      suspend.timeout = 30ms;
      suspend.on_timeout = TimeoutAction::auto_resume;
    }
    call(PutStep{.id = execution.id, .name = *StepName::parse("s"), .fence = execution.fence});
    call(std::move(suspend));
  }

  void signal() {
    if (mine_.empty()) return;
    const auto id = mine_[below(mine_.size())];
    const auto name = *SignalName::parse("go");
    const auto reply =
        call(SendSignal{.id = id, .name = name, .payload = std::string(below(50), 's')});
    if (reply) journal_.tell("signalled", id.str());
  }

  Complete completion(const ClaimedExecution& execution) {
    return {.id = execution.id,
            .fence = execution.fence,
            .result = result_of(execution.id.str(), epoch(execution.fence))};
  }
  void complete(const ClaimedExecution& execution) {
    if (call(completion(execution))) tell_completed(execution);
  }
  void tell_completed(const ClaimedExecution& execution) {
    journal_.tell("completed", execution.id.str(), epoch(execution.fence));
    remember_ended(execution);
  }
  void complete_many(const std::vector<ClaimedExecution>& executions) {
    CompleteMany many;
    for (const auto& execution : executions) many.executions.push_back(completion(execution));
    if (many.executions.empty()) return;
    auto reply = call(std::move(many));
    if (!reply) return;
    for (std::size_t i = 0; i < executions.size(); ++i)
      if (check(std::move(reply->results[i]))) tell_completed(executions[i]);
  }
  void fail(const ClaimedExecution& execution) {
    const auto reply =
        call(Fail{.id = execution.id, .fence = execution.fence, .reason = "on purpose"});
    if (!reply) return;
    journal_.tell(reply->retry_at ? "retrying" : "failed", execution.id.str(),
                  epoch(execution.fence));
    if (!reply->retry_at) remember_ended(execution);
  }

  // ---- Meddling -----------------------------------------------------------------------------------

  void cancel() {
    if (mine_.empty()) return;
    const auto id = mine_[below(mine_.size())];
    if (call(Cancel{.id = id, .reason = "not needed"})) journal_.tell("cancelled", id.str());
  }

  void replay() {
    if (ended_.empty()) return;
    const auto id = ended_[below(ended_.size())];
    journal_.tell("replaying", id.str());
    if (call(Replay{.id = id, .reason = "again", .requested_by = "crash"}))
      journal_.tell("replayed", id.str());
  }

  void tag() {
    if (mine_.empty()) return;
    const auto id = mine_[below(mine_.size())];
    const auto number = ++tags_;
    if (call(SetTags{.id = id, .set = {{"app.number", std::to_string(number)}}}))
      journal_.tell("tagged", id.str(), number);
  }

  void meddle() {
    if (mine_.empty()) return;
    const auto id = mine_[below(mine_.size())];
    if (chance(60)) signal();
    if (chance(50))
      call(RevokeLease{.id = id, .reason = "on purpose"});
    else
      call(ChangePriority{.id = id, .priority = static_cast<std::int32_t>(below(100))});
  }

  void look() {
    for (int i = 0; i < 5; ++i) read_frames();
    if (chance(10)) {
      const auto name = fmt::format("b{}-{}", worker_.str(), random_());
      static_cast<void>(call(Backup{*BackupName::parse(name)}));
    }
    static_cast<void>(call(CountExecutions{}));
    static_cast<void>(call(ListExecutions{.tag = "app.lane=red", .limit = 20}));
  }

  static std::uint64_t epoch(const Fence& fence) { return std::to_underlying(fence.lease_epoch); }
  void remember(const ExecutionId& id) { keep(mine_, id); }
  void remember_ended(const ClaimedExecution& execution) {
    if (!execution.flow) keep(ended_, execution.id);
  }
  template <class Id>
  void keep(std::vector<Id>& ids, const Id& id) {
    constexpr std::size_t kept_max = 50;
    if (ids.size() < kept_max)
      ids.push_back(id);
    else
      ids[below(kept_max)] = id;
  }

  Engine& engine_;
  Journal& journal_;
  std::mt19937_64 random_;
  WorkerId worker_;
  std::vector<ExecutionId> mine_;   // submitted by this thread; only it tags them
  std::vector<ExecutionId> ended_;  // by this thread, and no nodes
  std::vector<FlowId> flows_;       // submitted by this thread
  std::vector<ExecutionId> written_;  // to their streams, by this thread
  std::uint64_t tags_ = 0;
};

}  // namespace

void run_load(const std::filesystem::path& directory, std::uint64_t seed, int pipe) {
  Journal journal(pipe);
  auto engine = open_engine(directory, 1 + seed % 3);
  if (!engine) {
    journal.tell("broken", "cannot open:", engine.error().message);
    std::exit(1);
  }
  journal.tell("ready");
  std::vector<std::jthread> callers;
  for (int number = 0; number < threads; ++number)
    callers.emplace_back([&, number] { Caller(**engine, journal, seed, number).run(); });
  callers.clear();  // waits for ever
  std::abort();
}

}  // namespace ff::crash
