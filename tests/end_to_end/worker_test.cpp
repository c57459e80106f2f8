// Workers and a client of the SDK on a real server that is stopped, killed and started again.
#include <flowfabric/flowfabric.hpp>

#include <condition_variable>
#include <csignal>
#include <future>
#include <map>
#include <mutex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server/listener.hpp"
#include "tests/end_to_end/process.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t concurrency = 4;
constexpr std::size_t executions_per_round = 40;

// Handlers stand at a gate until the test opens it. Knows who runs what.
class Workshop {
 public:
  Outcome work(const std::string& worker, Task& task) {
    std::unique_lock lock(mutex_);
    if (!running_.insert(task.id()).second)
      ADD_FAILURE() << task.id().str() << " runs twice at a time, now on " << worker;
    ++runs_[task.id()];
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    running_.erase(task.id());
    changed_.notify_all();
    return worker + " did " + task.payload();
  }

  void set_open(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  void wait_until_running(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_.size() == count; });
  }
  std::size_t runs(const ExecutionId& id) {
    const std::lock_guard lock(mutex_);
    return runs_[id];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::set<ExecutionId> running_;
  std::map<ExecutionId, std::size_t> runs_;
};

// A worker with a connection of its own.
class WorkerOfItsOwn {
 public:
  WorkerOfItsOwn(const std::string& url, const std::string& name, Workshop& workshop)
      : engine_(must(open(url))), worker_(*engine_, {.id = name, .concurrency = concurrency}) {
    worker_.handle("job", [name, &workshop](Task& task) { return workshop.work(name, task); });
    must(worker_.start());
  }

 private:
  std::shared_ptr<Engine> engine_;
  Worker worker_;
};

class WorkerTest : public ::testing::Test {
 protected:
  void serve() {
    server_ = std::make_unique<Process>(std::vector<std::string>{
        program_path(), "server", "--store", "embedded:" + (temp_.path() / "data").string(),
        "--listen", address_});
    server_->wait_for_output("at http://" + address_);
  }
  void stop_server(int signal) {
    server_->signal(signal);
    server_->wait();
  }

  TempDirectory temp_;
  std::string address_ =
      "127.0.0.1:" + std::to_string(must(http::Listener::bind("127.0.0.1:0")).port());
  std::unique_ptr<Process> server_;
  Workshop workshop_;
};

TEST_F(WorkerTest, NothingIsLostOrDoneTwiceWhenTheServerIsRestarted) {
  serve();
  const auto url = "http://" + address_;
  const WorkerOfItsOwn first(url, "first", workshop_), second(url, "second", workshop_);
  const auto engine = must(open(url));
  Client client(*engine);

  std::vector<ExecutionId> ids;
  for (const int signal : {SIGTERM, SIGKILL}) {
    workshop_.set_open(false);
    std::vector<NewExecution> round(executions_per_round, {.kind = "job", .payload = "it"});
    for (const auto& submitted : client.submit_many(std::move(round)))
      ids.push_back(must(submitted).id);
    auto waiting =
        std::async(std::launch::async, [&, id = ids.back()] { return client.result(id, 60s); });

    workshop_.wait_until_running(2 * concurrency);
    stop_server(signal);
    workshop_.set_open(true);  // these end while there is nobody to report to
    workshop_.wait_until_running(0);
    serve();
    EXPECT_THAT(must(waiting.get()), ::testing::EndsWith(" did it"));
    for (const auto& id : ids) must(client.result(id, 60s));
  }

  for (const auto& id : ids) {
    const auto attempts = must(client.attempts(id));
    ASSERT_EQ(attempts.size(), 1u) << id.str();
    EXPECT_EQ(attempts[0].outcome, AttemptOutcome::success);
    EXPECT_EQ(workshop_.runs(id), 1u) << id.str();
  }
  const auto counts = must(client.counts());
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].state, ExecutionState::completed);
  EXPECT_EQ(counts[0].count, ids.size());
}

}  // namespace
}  // namespace ff::test
