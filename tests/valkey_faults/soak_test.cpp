// Servers on one Valkey under load for long, one of them killed every now and then: nothing acknowledged is lost,
// nothing runs under two leases, no slot leaks, memory stays flat. Only if FF_SOAK_SECONDS says for how long.
#include <gtest/gtest.h>

#include <flowfabric/flowfabric.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "sdk/client/blocking.hpp"
#include "tests/end_to_end/process.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/valkey_server.hpp"
#include "tests/valkey_faults/load.hpp"

namespace ff::faults {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t servers = 4;
constexpr auto kill_every = 30s;
constexpr std::uint32_t slots = 8;

std::chrono::seconds soak_time() {
  const char* text = std::getenv("FF_SOAK_SECONDS");
  return std::chrono::seconds{text ? std::atoll(text) : 0};
}

double resident_mib(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

// `ff server` on a port that stays the same.
class Server {
 public:
  explicit Server(const std::string& store) : store_(store), port_(test::free_port()) { start(); }

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  pid_t pid() const { return process_->pid(); }
  void kill() {
    process_->signal(SIGKILL);
    process_->wait();
    start();
  }

 private:
  void start() {
    process_ = std::make_unique<test::Process>(std::vector<std::string>{
        test::program_path(), "server", "--store", store_, "--listen",
        fmt::format("127.0.0.1:{}", port_), "--log-level", "error", "--retention", "60s",
        "--retention-trimmer-interval", "5s", "--lease-expiry-interval", "500ms"});
  }

  std::string store_;
  std::uint16_t port_;
  std::unique_ptr<test::Process> process_;
};

class Soak : public ::testing::Test {
 protected:
  void SetUp() override {
    if (soak_time() == 0s) GTEST_SKIP() << "FF_SOAK_SECONDS says for how long";
    valkey_.emplace();
    valkey_->call({"CONFIG", "SET", "slowlog-log-slower-than", "5000"});
    for (std::size_t i = 0; i < servers; ++i) {
      servers_.push_back(std::make_unique<Server>(valkey_->url()));
      engines_.push_back(must(open(servers_.back()->url())));
    }
    for (const auto& engine : engines_)
      test::await(
          "a server answers", [&] { return run_blocking(*engine, Health{}).has_value(); }, 20s);
    CreateQuota quota{.spec = {.max_concurrent = slots}};
    quota_ = must(run_blocking(*engines_.front(), quota)).id;
  }

  // The replies of a round are checked at its end; then they are forgotten.
  void round(Steady::time_point end) {
    std::vector<Engine*> engines;
    for (const auto& engine : engines_) engines.push_back(engine.get());
    std::atomic<std::uint64_t> count = 0;
    Load load(engines, 200, [&](Submit& submit) {
      submit.policy.retention.reset();
      if (++count % 20 == 0) submit.policy.quota = quota_;
    });
    const auto begins = Steady::now();
    while (Steady::now() < std::min(end, begins + kill_every)) std::this_thread::sleep_for(100ms);
    servers_[kills_++ % servers]->kill();
    EXPECT_EQ(load.finish(40s), "");
    submitted_ += load.ledger().submitted_count();
    completed_ += load.ledger().completed_count();
    test::await(
        "every slot is given back",
        [&] {
          const auto quota = run_blocking(*engines_.back(), GetQuota{quota_});
          return quota && quota->running == 0;
        },
        90s);
    report();
  }

  void report() {
    const auto info = *valkey_->call({"INFO", "memory"}).as_text();
    const auto used = std::strtod(info.c_str() + info.find("used_memory:") + 12, nullptr);
    std::string resident;
    for (const auto& server : servers_)
      resident += fmt::format(" {:.0f}", resident_mib(server->pid()));
    fmt::print("submitted={} completed={} kills={} valkey_mib={:.1f} servers_mib={}\n", submitted_,
               completed_, kills_, used / (1024 * 1024), resident);
    std::fflush(stdout);
  }

  std::optional<test::ValkeyServer> valkey_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::shared_ptr<Engine>> engines_;
  QuotaId quota_;
  std::size_t kills_ = 0;
  std::size_t submitted_ = 0;
  std::size_t completed_ = 0;
};

TEST_F(Soak, LosesNothingWhileServersAreKilled) {
  const auto end = Steady::now() + soak_time();
  while (Steady::now() < end && !HasFailure()) round(end);
  const auto slow = valkey_->call({"SLOWLOG", "GET", "-1"});
  std::string functions;
  for (const auto& entry : *slow.as_array()) {
    const auto& parts = *entry.as_array();
    const auto& words = *parts[3].as_array();
    functions +=
        fmt::format(" {}:{}us", *words[std::min<std::size_t>(1, words.size() - 1)].as_text(),
                    *parts[2].as_int());
  }
  fmt::print("calls over 5 ms:{}\n", functions.empty() ? " none" : functions);
}

}  // namespace
}  // namespace ff::faults
