#include "store/embedded/tools/check.hpp"

#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/try.hpp"
#include "core/streams/merge_patch.hpp"
#include "store/embedded/disk/directory.hpp"
#include "store/embedded/disk/flow_records.hpp"
#include "store/embedded/disk/format.hpp"
#include "store/embedded/disk/keys.hpp"
#include "store/embedded/disk/records.hpp"
#include "store/embedded/disk/resource_records.hpp"
#include "store/embedded/disk/stream_records.hpp"
#include "store/embedded/disk/suspension_records.hpp"
#include "store/embedded/tools/backup.hpp"

namespace ff::embedded {
namespace {

using Next = Database::Next;
using Counts = std::map<std::pair<Namespace, LaneId>, CountByState>;

constexpr std::size_t problems_max = 100;

class Check {
 public:
  Check(const Database& database, const CheckOptions& options)
      : database_(database), options_(options) {}

  Result<CheckReport> run() {
    using Step = Result<void> (Check::*)();
    for (const Step step :
         {&Check::live, &Check::ended, &Check::belongings, &Check::by_time, &Check::by_tag,
          &Check::retention, &Check::flows, &Check::flow_indexes, &Check::idempotency, &Check::counts, &Check::budgets, &Check::ledgers,
          &Check::reports, &Check::reports_by_time, &Check::quotas, &Check::windows,
          &Check::effects, &Check::key_ring, &Check::lane_pauses, &Check::audit_log})
      FF_TRY((this->*step)());
    return std::move(report_);
  }

 private:
  using Visitor = std::function<Result<void>(std::string_view key, std::string_view value)>;

  Result<void> each(std::string_view prefix, const Visitor& visit) {
    return database_.for_each({.prefix = std::string(prefix)},
                              [&](std::string_view key, std::string_view value) -> Result<Next> {
                                if (options_.on_entry) options_.on_entry();
                                FF_TRY(visit(key, value));
                                return Next::go_on;
                              });
  }

  void problem(std::string text) {
    ++report_.problem_count;
    if (report_.problems.size() < problems_max) report_.problems.push_back(std::move(text));
  }

  Result<bool> exists(std::string_view key) {
    const auto value = database_.get(key);
    FF_TRY(value);
    return value->has_value();
  }

  Result<void> must_exist(std::string_view key, const ExecutionId& id, std::string_view what) {
    const auto there = exists(key);
    FF_TRY(there);
    if (!*there) problem(fmt::format("execution {}: its {} is missing", id.str(), what));
    return {};
  }

  // The record of an execution, or none (and a problem) if it cannot be read.
  Result<std::optional<core::Execution>> load(const ExecutionId& id) {
    for (const auto& key : {keys::live(id), keys::ended(id)}) {
      const auto bytes = database_.get(key);
      FF_TRY(bytes);
      if (!*bytes) continue;
      auto execution = decode(id, **bytes);
      if (execution) return std::move(*execution);
    }
    return std::nullopt;
  }

  Result<void> live() { return records(keys::live_prefix, false, report_.live); }
  Result<void> ended() { return records(keys::ended_prefix, true, report_.ended); }

  Result<void> records(std::string_view prefix, bool should_have_ended, std::size_t& count) {
    return each(prefix, [&](std::string_view key, std::string_view value) -> Result<void> {
      ++count;
      const auto id = keys::execution_id(key);
      if (!id) return problem("a record has a key of an unknown form"), Result<void>{};
      const auto execution = decode(*id, value);
      if (!execution) return problem(execution.error().message), Result<void>{};
      return record(*execution, should_have_ended);
    });
  }

  Result<void> record(const core::Execution& execution, bool should_have_ended) {
    const auto& id = execution.id;
    if (core::has_ended(execution) != should_have_ended)
      problem(fmt::format("execution {}: is {} but stored among those that {}", id.str(),
                          to_string(core::public_state(execution)),
                          should_have_ended ? "have ended" : "have not ended"));
    if (auto there = must_exist(keys::payload(id), id, "payload"); !there) return there;
    if (execution.has_waits)
      FF_TRY(must_exist(keys::belonging(id, core::Belonging::waits), id,
                        "record of waitpoints and suspensions"));
    for (std::uint32_t index = 0; index < execution.signal_count; ++index)
      FF_TRY(must_exist(keys::signal(id, index), id, fmt::format("signal {}", index)));
    if (auto there = must_exist(keys::by_time(execution.ns, execution.created_at, id), id,
                                "entry in the index by time");
        !there)
      return there;
    for (const auto& [tag, value] : execution.tags)
      if (auto there = must_exist(keys::by_tag(execution.ns, tag, value, execution.created_at, id),
                                  id, "entry in the index by tag");
          !there)
        return there;
    if (!should_have_ended) return {};
    const auto state = static_cast<std::size_t>(core::public_state(execution));
    ++ended_counts_[{execution.ns, execution.lane}][state];
    const auto twice = exists(keys::live(id));
    FF_TRY(twice);
    if (*twice) problem(fmt::format("execution {}: is stored as live and as ended", id.str()));
    if (execution.flow) return {};  // it is kept as long as its flow
    return must_exist(keys::retention(core::retained_until(execution), id), id,
                      "entry in the index by retention");
  }

  // Payloads, results, attempts, waits, signals and steps belong to an execution.
  Result<void> belongings() {
    for (const auto kind : core::belongings) {
      const auto prefix = keys::prefix_of(kind);
      auto visited = each(prefix, [&](std::string_view key, std::string_view value) -> Result<void> {
        const auto id = keys::execution_id(key);
        if (!id) return problem("a record has a key of an unknown form"), Result<void>{};
        const auto read = belonging(kind, *id, key, value);
        if (!read) problem(read.error().message);
        for (const auto& owner : {keys::live(*id), keys::ended(*id)}) {
          const auto there = exists(owner);
          FF_TRY(there);
          if (*there) return {};
        }
        problem(
            fmt::format("execution {}: is gone, but its data ('{}') is not", id->str(), prefix));
        return {};
      });
      if (!visited) return visited;
    }
    return {};
  }

  // Whether a belonging can be read.
  Result<void> belonging(core::Belonging kind, const ExecutionId& id, std::string_view key,
                         std::string_view value) {
    const auto outcome = [](const auto& decoded) -> Result<void> {
      FF_TRY(decoded);
      return {};
    };
    switch (kind) {
      case core::Belonging::payload:
      case core::Belonging::result:
      case core::Belonging::signal_payload: return {};
      case core::Belonging::attempt: return outcome(decode_attempt(id, value));
      case core::Belonging::waits: return waits(id, value);
      case core::Belonging::wait_details: return outcome(decode_details(id, value));
      case core::Belonging::signal: return outcome(decode_signal(id, keys::index_in(key), value));
      case core::Belonging::signal_key: {
        const auto name = SignalKey::parse(std::string(keys::text_in(key)));
        FF_TRY(name);
        return outcome(decode_known_signal(id, *name, value));
      }
      case core::Belonging::signal_id: return must_exist(value, id, "signal that an id names");
      case core::Belonging::step: return outcome(decode_step(id, keys::text_in(key), value));
      case core::Belonging::streams: return streams(id, value);
      case core::Belonging::frames: return outcome(decode_append(id, keys::parse_frames(key), value));
      case core::Belonging::document: return document(id, keys::index_in(key), value);
      case core::Belonging::edge_in:
        return outcome(decode_edge({id, keys::index_in(key)}, value));
      case core::Belonging::edge_out: {
        const auto edge = keys::parse_edge_out(id, key);
        return must_exist(keys::edge_in(edge), edge.downstream, "edge from " + id.str());
      }
    }
    return {};
  }

  Result<void> streams(const ExecutionId& id, std::string_view value) {
    const auto streams = decode_streams(id, value);
    FF_TRY(streams);
    for (std::uint32_t i = 0; i < streams->all.size(); ++i)
      if (const auto& stream = streams->all[i]; stream.version > 0)
        FF_TRY(must_exist(keys::document(id, i), id, "document of stream " + stream.name.str()));
    return {};
  }

  Result<void> document(const ExecutionId& id, std::uint32_t stream, std::string_view text) {
    if (const auto checked = core::check_json(text, limits::summary_depth_max); !checked)
      problem(fmt::format("execution {}: the document of its stream {} is damaged: {}", id.str(),
                          stream, checked.error()));
    return {};
  }

  Result<void> waits(const ExecutionId& id, std::string_view value) {
    const auto waits = decode_waits(id, value);
    FF_TRY(waits);
    if (!waits->has_details) return {};
    return must_exist(keys::belonging(id, core::Belonging::wait_details), id,
                      "record of questions and handler state");
  }

  // Each entry must be the one that its execution calls for.
  using ExpectedKeys = std::function<std::vector<std::string>(const core::Execution&)>;
  Result<void> index(std::string_view prefix, const ExpectedKeys& expected) {
    return each(prefix, [&](std::string_view key, std::string_view) -> Result<void> {
      ++report_.index_entries;
      const auto moment = keys::parse_moment(key);
      if (!moment) return problem("an index entry has an unknown form"), Result<void>{};
      const auto execution = load(moment->id);
      FF_TRY(execution);
      if (!*execution && prefix == keys::retention_prefix) return entry_of_flow(key, moment->id);
      const auto wanted = *execution ? expected(**execution) : std::vector<std::string>{};
      if (std::ranges::find(wanted, key) == wanted.end())
        problem(fmt::format("execution {}: an entry of index '{}' is not true of it",
                            moment->id.str(), prefix));
      return {};
    });
  }

  Result<void> by_time() {
    return index(keys::by_time_prefix, [](const core::Execution& execution) {
      return std::vector{keys::by_time(execution.ns, execution.created_at, execution.id)};
    });
  }
  Result<void> by_tag() {
    return index(keys::by_tag_prefix, [](const core::Execution& execution) {
      std::vector<std::string> entries;
      for (const auto& [tag, value] : execution.tags)
        entries.push_back(
            keys::by_tag(execution.ns, tag, value, execution.created_at, execution.id));
      return entries;
    });
  }
  Result<void> retention() {
    return index(keys::retention_prefix, [](const core::Execution& execution) {
      if (execution.flow) return std::vector<std::string>{};
      std::vector<std::string> entries;
      if (core::has_ended(execution))
        entries.push_back(keys::retention(core::retained_until(execution), execution.id));
      return entries;
    });
  }

  // ---- Flows

  static std::vector<std::string> index_keys(const core::Flow& flow) {
    const auto subject = core::subject_of(flow);
    std::vector<std::string> entries{keys::flow_by_time(flow.ns, flow.created_at, subject)};
    if (core::is_kept_until(flow))
      entries.push_back(keys::retention(core::retained_until(flow), subject));
    if (const auto timer = core::next_timer(flow))
      entries.push_back(keys::flow_timer(timer->due, subject));
    return entries;
  }

  Result<std::optional<core::Flow>> load_flow(const ExecutionId& subject) {
    const auto bytes = database_.get(keys::flow(subject));
    FF_TRY(bytes);
    if (!*bytes) return std::nullopt;
    auto flow = decode_flow(subject, **bytes);
    if (!flow) return std::nullopt;
    return std::move(*flow);
  }

  Result<void> flows() {
    return each(keys::flow_prefix, [&](std::string_view key, std::string_view value) -> Result<void> {
      ++report_.flows;
      const auto subject = keys::execution_id(key);
      if (!subject) return problem("a record has a key of an unknown form"), Result<void>{};
      const auto flow = decode_flow(*subject, value);
      if (!flow) return problem(flow.error().message), Result<void>{};
      for (const auto& entry : index_keys(*flow)) {
        const auto there = exists(entry);
        FF_TRY(there);
        if (!*there)
          problem(fmt::format("flow {}: its entry in index '{}' is missing", flow->id.str(),
                              entry.substr(0, 1)));
      }
      return flow->is_removing ? Result<void>{} : nodes_of(*flow);
    });
  }

  // The counters of a flow, compared with its nodes.
  Result<void> nodes_of(const core::Flow& flow) {
    core::Flow recounted;
    const auto subject = core::subject_of(flow);
    const auto visited = each(
        keys::members_of(subject), [&](std::string_view, std::string_view value) -> Result<void> {
          const auto id = decode_member(subject.partition(), value);
          if (!id) return problem(id.error().message), Result<void>{};
          const auto node = load(*id);
          FF_TRY(node);
          if (!*node || !(*node)->flow || (*node)->flow->flow != flow.id)
            return problem(fmt::format("flow {}: its node {} is missing", flow.id.str(),
                                       id->str())),
                   Result<void>{};
          ++recounted.counts.nodes;
          if (core::has_ended(**node)) core::count_end(recounted, **node, 1);
          return {};
        });
    FF_TRY(visited);
    if (recounted.counts != flow.counts || recounted.failures != flow.failures)
      problem(fmt::format("flow {}: its counters do not agree with its nodes", flow.id.str()));
    return {};
  }

  Result<void> flow_indexes() {
    for (const auto prefix : {keys::flow_by_time_prefix, keys::flow_timer_prefix}) {
      const auto visited =
          each(prefix, [&](std::string_view key, std::string_view) -> Result<void> {
            ++report_.index_entries;
            const auto moment = keys::parse_moment(key);
            if (!moment) return problem("an index entry has an unknown form"), Result<void>{};
            return entry_of_flow(key, moment->id);
          });
      FF_TRY(visited);
    }
    return {};
  }

  Result<void> entry_of_flow(std::string_view key, const ExecutionId& subject) {
    const auto flow = load_flow(subject);
    FF_TRY(flow);
    const auto wanted = *flow ? index_keys(**flow) : std::vector<std::string>{};
    if (std::ranges::find(wanted, key) == wanted.end())
      problem(fmt::format("flow {}: an entry of index '{}' is not true of it",
                          subject.uuid().str(), key.substr(0, 1)));
    return {};
  }

  Result<void> idempotency() {
    return each(
        keys::idempotency_prefix,
        [&](std::string_view key, std::string_view value) -> Result<void> {
          ++report_.index_entries;
          const auto entry = decode_idempotency(value);
          if (!entry) return problem(entry.error().message), Result<void>{};
          const auto execution = load(entry->id);
          FF_TRY(execution);
          const auto& named = *execution;
          if (!named || !named->idempotency_key ||
              keys::idempotency(named->ns, *named->idempotency_key) != key)
            problem(fmt::format("execution {}: an idempotency key names it, but not it the key",
                                entry->id.str()));
          return {};
        });
  }

  Result<void> counts() {
    Counts stored;
    auto visited = each(keys::ended_count_prefix,
                        [&](std::string_view key, std::string_view value) -> Result<void> {
                          const auto place = keys::parse_ended_count(key);
                          const auto share = decode_ended(value);
                          if (!place || !share)
                            return problem("a counter is damaged"), Result<void>{};
                          auto& lane = stored[{place->ns, place->lane}];
                          for (std::size_t state = 0; state < lane.size(); ++state)
                            lane[state] += (*share)[state];
                          return {};
                        });
    if (!visited) return visited;
    std::erase_if(stored, [](const auto& lane) { return lane.second == CountByState{}; });
    for (const auto& [lane, counts] : stored) ended_counts_.try_emplace(lane);
    for (const auto& [lane, counts] : ended_counts_)
      if (stored[lane] != counts)
        problem(fmt::format("namespace {} lane '{}': the count of ended executions is wrong",
                            lane.first.str(), lane.second.str()));
    return {};
  }

  // A record that its key and its bytes must be read from; `what` it is.
  template <class Key, class Record>
  bool readable(const Result<Key>& key, const Result<Record>& record, std::string_view what) {
    if (!key)
      problem(fmt::format("{} has a key of an unknown form", what));
    else if (!record)
      problem(record.error().message);
    return key && record;
  }

  // Of the budget or quota that a record belongs to.
  Result<void> owner_must_exist(std::string_view owner_key, std::string_view owner,
                                std::string_view what) {
    const auto there = exists(owner_key);
    FF_TRY(there);
    if (!*there) problem(fmt::format("{}: is gone, but {} is not", owner, what));
    return {};
  }
  Result<void> must_exist(const BudgetId& budget, std::string_view what) {
    return owner_must_exist(keys::budget(budget), "budget " + budget.str(), what);
  }

  Result<void> budgets() {
    return each(keys::budget_prefix,
                [&](std::string_view key, std::string_view value) -> Result<void> {
                  ++report_.budgets;
                  const auto id = keys::parse_budget(key);
                  readable(id, decode_budget(id.value_or(BudgetId{}), value), "a budget");
                  return {};
                });
  }
  Result<void> quotas() {
    return each(keys::quota_prefix,
                [&](std::string_view key, std::string_view value) -> Result<void> {
                  ++report_.quotas;
                  const auto id = keys::parse_quota(key);
                  readable(id, decode_quota(id.value_or(QuotaId{}), value), "a quota");
                  return {};
                });
  }

  Result<void> ledgers() {
    return each(keys::ledger_prefix,
                [&](std::string_view key, std::string_view value) -> Result<void> {
                  const auto parsed = keys::parse_ledger(key);
                  if (!readable(parsed, decode_spending(value), "what an execution spent"))
                    return {};
                  return must_exist(parsed->budget, "what an execution spent of it");
                });
  }

  Result<void> reports() {
    return each(keys::dedup_prefix,
                [&](std::string_view key, std::string_view value) -> Result<void> {
                  const auto entry = keys::parse_dedup(key);
                  const auto known = decode_report(value);
                  if (!readable(entry, known, "a usage report")) return {};
                  const auto timed = exists(keys::dedup_until(known->until, *entry));
                  FF_TRY(timed);
                  if (!*timed)
                    problem(fmt::format("budget {}: a usage report would never be forgotten",
                                        entry->budget.str()));
                  return must_exist(entry->budget, "a usage report to it");
                });
  }

  Result<void> reports_by_time() {
    return each(keys::dedup_until_prefix,
                [&](std::string_view key, std::string_view) -> Result<void> {
                  ++report_.index_entries;
                  const auto parsed = keys::parse_dedup_until(key);
                  if (!parsed) return problem("an index entry has an unknown form"), Result<void>{};
                  const auto bytes = database_.get(keys::dedup(parsed->entry));
                  FF_TRY(bytes);
                  const auto known = *bytes ? decode_report(**bytes) : KnownReport{};
                  if (!*bytes || (known && known->until != parsed->until))
                    problem(fmt::format("budget {}: an entry of index '{}' is not true of it",
                                        parsed->entry.budget.str(), keys::dedup_until_prefix));
                  return {};
                });
  }

  Result<void> windows() {
    return each(keys::place_prefix, [&](std::string_view key, std::string_view) -> Result<void> {
      ++report_.index_entries;
      const auto parsed = keys::parse_place(key);
      if (!parsed)
        return problem("a start in a quota's window has an unknown form"), Result<void>{};
      return owner_must_exist(keys::quota(parsed->quota), "quota " + parsed->quota.str(),
                              "a start in its window");
    });
  }

  Result<void> effects() {
    return each(keys::effect_prefix, [&](std::string_view key, std::string_view) -> Result<void> {
      if (!keys::parse_effect(key)) problem("an effect has a key of an unknown form");
      return {};
    });
  }

  Result<void> key_ring() {
    const auto bytes = database_.get(keys::key_ring);
    FF_TRY(bytes);
    if (!*bytes) return {};
    const auto ring = decode_key_ring(**bytes);
    if (!ring) problem(ring.error().message);
    return {};
  }

  Result<void> lane_pauses() {
    return each(keys::lane_pause_prefix,
                [&](std::string_view key, std::string_view value) -> Result<void> {
                  const auto at = keys::parse_lane_pause(key);
                  if (!at) return problem("a paused lane has a key of an unknown form"), Result<void>{};
                  const auto pause = decode_lane_pause(value);
                  if (!pause) problem(pause.error().message);
                  return {};
                });
  }

  Result<void> audit_log() {
    std::optional<std::uint64_t> last;
    return each(keys::audit_prefix,
                [&](std::string_view key, std::string_view value) -> Result<void> {
                  const auto number = keys::parse_audit(key);
                  if (!number)
                    return problem("an entry of the audit log has a key of an unknown form"),
                           Result<void>{};
                  if (last && *number != *last + 1)
                    problem(fmt::format("the audit log has no entry {}", *last + 1));
                  last = *number;
                  const auto entry = decode_audit_entry(value);
                  if (!entry) problem(entry.error().message);
                  return {};
                });
  }

  const Database& database_;
  const CheckOptions& options_;
  CheckReport report_;
  Counts ended_counts_;
};

}  // namespace

Result<CheckReport> check(const std::filesystem::path& directory, const CheckOptions& options) {
  std::error_code failed;
  if (!options.env && !std::filesystem::is_directory(database_directory(directory), failed))
    return fail(Errc::invalid_input,
                fmt::format("{} is not a data directory: it has no database", directory.string()));
  const auto lock = DirectoryLock::acquire(directory);
  FF_TRY(lock);
  const auto database =
      Database::open({.directory = database_directory(directory), .env = options.env});
  FF_TRY(database);
  const auto format = read_format(**database);
  FF_TRY(format);
  if (!*format || (*format)->version != format_version)
    return fail(Errc::store_damaged,
                "the data directory is not of this version's format; open it once with this "
                "version's server, which brings it up to date");
  return Check(**database, options).run();
}

}  // namespace ff::embedded
