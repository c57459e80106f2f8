// Schedules of an engine: their operations, and the scanner that starts what is due.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/random.hpp"
#include "core/schedules/schedule.hpp"
#include "engine/scanner.hpp"
#include "store/store.hpp"

namespace ff {

// Thread-safe. What a schedule does is decided by core/schedules; this reads and swaps the records.
class ScheduleRunner final : public Scanner {
 public:
  struct Parts {
    store::Store& store;
    Random& random;
    std::function<Async<SubmitReply>(Submit)> submit;
    std::function<Async<FlowReply>(SubmitFlow)> submit_flow;
    std::function<void(Millis)> due_in;  // the scanner is to run so soon
  };
  explicit ScheduleRunner(Parts parts) : parts_(std::move(parts)) {}

  Async<PutScheduleReply> put(PutSchedule operation);
  Async<ScheduleInfo> get(GetSchedule operation);
  Async<ScheduleList> list(ListSchedules operation);
  Async<Done> remove(DeleteSchedule operation);
  Async<ScheduleInfo> pause(PauseSchedule operation);
  Async<ScheduleInfo> resume(ResumeSchedule operation);
  Async<RunScheduleReply> run(RunSchedule operation);
  Async<ScheduleTimes> times(GetScheduleTimes operation);
  Async<ScheduleTimes> preview(PreviewSchedule operation);

  std::string_view name() const override { return "schedules"; }
  Async<Scan> run_once() override;

  // An execution or a flow has ended: times may have waited for it. Any thread.
  void note_end(const Uuid& id);

 private:
  struct Loaded {
    core::Schedule schedule;
    Uuid version;
  };
  using Key = core::ScheduleKey;
  using Change = std::function<Result<void>(core::Schedule&)>;

  // The schedules that one run of the scanner visits.
  struct Round {
    std::vector<Key> keys;
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::size_t changed = 0;
    std::size_t unchanged = 0;
    std::size_t failed = 0;
    std::string first_failed = {};
    std::optional<Error> failure = {};  // of the first that failed
  };

  Async<std::optional<Loaded>> load(Key key);
  Async<Loaded> must_load(Key key);
  // False: somebody else has changed it meanwhile.
  Async<bool> swap(std::optional<Uuid> expected, core::Schedule next);
  // Loads, changes and swaps, until nobody comes in between.
  Async<core::Schedule> change(Key key, Change apply);

  asio::awaitable<void> visit_all(std::shared_ptr<Round> round);
  asio::awaitable<void> visit_next(std::shared_ptr<Round> round, std::shared_ptr<void> last);
  // Does what is due of one schedule. The reply: whether anything was.
  Async<bool> visit(Key key);
  Async<bool> step(Loaded loaded);
  Async<bool> finish_start(Loaded loaded);
  // `time`: none if RunSchedule starts it.
  Async<core::ScheduleStart> start(const core::Schedule& schedule, Uuid id,
                                   std::optional<TimePoint> time, bool& duplicate);
  Async<void> forget_ended(core::Schedule& schedule);
  Async<bool> has_ended(core::ScheduleStart start);
  Async<void> cancel_running(const core::Schedule& schedule);

  void watch(const core::Schedule& schedule);
  std::set<Key> take_woken();

  Parts parts_;
  std::mutex mutex_;
  std::map<Uuid, Key> watched_;  // what queued times wait for
  std::set<Key> woken_;
};

}  // namespace ff
