// Arguments that several commands share.
#pragma once

#include <flowfabric/engine.hpp>
#include <flowfabric/open.hpp>

#include <charconv>
#include <memory>
#include <string>

#include "cli/command.hpp"

namespace ff::cli {

// --url: which engine a command talks to.
struct EngineOption {
  std::string url = "http://127.0.0.1:9090";

  void add_to(CLI::App& app) {
    app.add_option("--url", url, "The server (or embedded:DIR)")
        ->envname("FF_URL")
        ->capture_default_str();
  }
  Result<std::shared_ptr<Engine>> open() const { return ff::open(url); }
};

// What is wrong with a number of seconds; empty if nothing is.
inline std::string check_seconds(const std::string& text) {
  double seconds = 0;
  const auto end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, seconds);
  const bool in_range = seconds >= 0 && seconds <= 86'400;  // false for nan
  if (failed == std::errc{} && rest == end && in_range) return "";
  return "'" + text + "' is not a number of seconds from 0 to 86400";
}

// --wait and --timeout: whether a command waits for the end of an execution, and how long.
struct WaitOption {
  bool wait = false;
  double timeout_seconds = 60;

  void add_to(CLI::App& app, const char* what) {
    app.add_flag("--wait", wait, what);
    app.add_option("--timeout", timeout_seconds, "With --wait: how many seconds at most")
        ->check(CLI::Validator(check_seconds, "SECONDS"))
        ->capture_default_str();
  }
  Millis limit() const {
    return wait ? std::chrono::ceil<Millis>(std::chrono::duration<double>(timeout_seconds))
                : Millis{0};
  }
};

// --store and --listen: what a server serves, and where.
struct ServiceOption {
  std::string store = "embedded:./ff-data";
  std::string listen = "127.0.0.1:9090";

  void add_to(CLI::App& app) {
    app.add_option("--store", store, "Where state is kept: embedded:DIR")
        ->envname("FF_STORE")
        ->capture_default_str();
    app.add_option("--listen", listen, "IP:PORT to serve on (loopback; port 0: any free one)")
        ->envname("FF_LISTEN_ADDR")
        ->capture_default_str();
  }
};

}  // namespace ff::cli
