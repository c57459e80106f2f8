#include "cli/child_process.hpp"

#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_directory.hpp"

namespace ff::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;

// The test's grace is either never used or over at once.
ChildCommand shell(const std::string& text, std::string input = "") {
  return {.arguments = {"/bin/sh", "-c", text},
          .environment = {},
          .input = std::move(input),
          .output_bytes_max = 1024 * 1024,
          .error_bytes_max = 100,
          .grace = 1h};
}

ChildEnd end_of(const ChildCommand& command) { return must(run_child(command, {})); }

TEST(ChildProcess, GetsItsInputAndGivesItsOutput) {
  const std::string bytes("a\0\xff\nb", 5);
  const auto end = end_of(shell("cat", bytes));
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.output, bytes);
}

TEST(ChildProcess, NeedNotReadItsInput) {
  EXPECT_EQ(end_of(shell("echo done", std::string(1024 * 1024, 'x'))).output, "done\n");
}

TEST(ChildProcess, ExitCodeAndTheLastOfItsErrorsAreTold) {
  const auto end = end_of(shell("seq 1000 >&2; echo why >&2; exit 7"));
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.error.size(), 100u);
  EXPECT_THAT(end.error, EndsWith("1000\nwhy\n"));
}

TEST(ChildProcess, SignalThatKilledItIsTold) {
  const auto end = end_of(shell("kill -9 $$"));
  EXPECT_EQ(end.how, ChildEnd::How::killed);
  EXPECT_EQ(end.code, SIGKILL);
}

TEST(ChildProcess, HasTheEnvironmentItIsGiven) {
  auto command = shell("echo \"$FF_KIND $HOME $PATH\"");
  command.environment = {"FF_KIND=greet", "HOME=/elsewhere"};
  EXPECT_EQ(end_of(command).output, std::string("greet /elsewhere ") + std::getenv("PATH") + "\n");
}

TEST(ChildProcess, OutputOnDescriptor3IsItsRequest) {
  auto command = shell("echo output; echo wait >&3; (echo more >&3)");
  command.request_bytes_max = 8;
  const auto end = end_of(command);
  EXPECT_EQ(end.output, "output\n");
  EXPECT_EQ(end.request, "wait\nmor");
}

TEST(ChildProcess, FurtherFilesCanBeReadAgainAndAgain) {
  auto command = shell("cat /dev/fd/4; cat /dev/fd/5 /dev/fd/4", "input");
  command.files = {"first ", "second "};
  EXPECT_EQ(end_of(command).output, "first second first ");
}

TEST(ChildProcess, IsStoppedWhenItPrintsTooMuch) {
  auto command = shell("yes");
  command.output_bytes_max = 10;
  const auto end = end_of(command);
  EXPECT_EQ(end.how, ChildEnd::How::printed_too_much);
  EXPECT_EQ(end.output, "y\ny\ny\ny\ny\n");
}

// Waits, without a sleep, until the child has opened the pipe `path` for writing.
void wait_for_writer(const std::filesystem::path& path) {
  if (std::FILE* pipe = std::fopen(path.c_str(), "r")) {
    std::fgetc(pipe);
    std::fclose(pipe);
  }
}

class StoppedChild : public ::testing::Test {
 protected:
  StoppedChild() {
    const auto made = std::system(("mkfifo " + started_.string()).c_str());
    EXPECT_EQ(made, 0);
  }

  // Runs `text`, which tells that it has started with $STARTED, and stops it then.
  ChildEnd stop(const std::string& text, Millis grace) {
    auto command = shell(text);
    command.grace = grace;
    command.environment = {"STARTED=" + started_.string()};
    std::stop_source source;
    std::jthread stopper([&] {
      wait_for_writer(started_);
      source.request_stop();
    });
    return must(run_child(command, source.get_token()));
  }

  test::TempDirectory temp_;
  const std::filesystem::path started_ = temp_.path() / "started";
};

TEST_F(StoppedChild, IsToldSoFirst) {
  const auto end = stop("trap 'echo bye; exit 3' TERM; echo x > $STARTED; sleep 1000 & wait", 1h);
  EXPECT_EQ(end.how, ChildEnd::How::stopped);
  EXPECT_EQ(end.code, 3);
  EXPECT_EQ(end.output, "bye\n");
}

TEST_F(StoppedChild, IsKilledWhenItDoesNotListen) {
  const auto end = stop("trap '' TERM; echo x > $STARTED; while :; do sleep 1000; done", 1ms);
  EXPECT_EQ(end.how, ChildEnd::How::stopped);
  EXPECT_EQ(end.code, SIGKILL);
}

TEST(ChildProcess, LeavesNothingBehind) {
  const auto end = end_of(shell("sleep 1000 & echo $!"));
  EXPECT_EQ(end.how, ChildEnd::How::exited);
  // The kernel may need a moment to take it away; a zombie of init's is gone for us, too.
  const auto pid = std::stoi(end.output);
  const auto alive = [&] {
    std::FILE* stat = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r");
    if (!stat) return false;
    char state = 0;
    const bool read = std::fscanf(stat, "%*d (sleep) %c", &state) == 1;
    std::fclose(stat);
    return read && state != 'Z' && state != 'X';
  };
  while (alive()) std::this_thread::yield();
}

TEST(ChildProcess, ProgramThatCannotBeStartedIsRefused) {
  auto command = shell("");
  command.arguments = {"/nonexistent/program"};
  const auto refused = run_child(command, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_input);
}

}  // namespace
}  // namespace ff::cli
