// The program as a user meets it: the real binary, a real server, real signals.
#pragma once

#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/process.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::test {

inline const std::string program = program_path();

inline std::string trimmed(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// The part of an execution's id that is the same in its short form and in JSON.
inline std::string uuid_of(const std::string& id) { return id.substr(id.find('-') + 1); }

using Words = std::vector<std::string>;

// Whatever the one who runs the tests has set, `ff` sees only what the test gives it.
inline Words ff_command(const Words& arguments, const Words& variables) {
  Words command{"/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "HOME=/nonexistent"};
  command.insert(command.end(), variables.begin(), variables.end());
  command.push_back(program);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

inline Finished run_ff(const Words& arguments, std::string input = "",
                       const Words& variables = {}) {
  return run(ff_command(arguments, variables), std::move(input));
}

class CliTest : public ::testing::Test {
 protected:
  std::filesystem::path data() const { return temp_.path() / "data"; }
  virtual std::string store() const { return "embedded:" + data().string(); }

  // Starts `ff server` or `ff demo` on any free port and waits until it serves.
  std::unique_ptr<Process> serve(const std::string& command, const Words& more = {},
                                 const Words& variables = {}) {
    Words arguments{command, "--store", store()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Words all{"FF_LISTEN_ADDR=127.0.0.1:0"};
    all.insert(all.end(), variables.begin(), variables.end());
    auto process = std::make_unique<Process>(ff_command(arguments, all));
    const auto said = process->wait_for_output("at http");
    std::smatch match;
    std::regex_search(said, match, std::regex("at (https?://[0-9.]+:[0-9]+)"));
    url_ = match[1];
    return process;
  }

  // A client command on that server.
  Finished ff(Words arguments, std::string input = "") {
    return run_ff(std::move(arguments), std::move(input), {"FF_URL=" + url_});
  }

  // The same, of one that must succeed.
  std::string out(Words arguments, std::string input = "") {
    const auto name = arguments[0];
    auto finished = ff(std::move(arguments), std::move(input));
    EXPECT_EQ(finished.exit_code, 0) << name << ": " << finished.err;
    return finished.out;
  }

  std::string submit(Words arguments) {
    arguments.insert(arguments.begin(), "submit");
    return trimmed(out(std::move(arguments)));
  }

  TempDirectory temp_;
  std::string url_;
};

inline constexpr const char* missing_id = "1-01920000-0000-7000-8000-000000000001";

}  // namespace ff::test
