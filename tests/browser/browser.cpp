#include "tests/browser/browser.hpp"

#include <array>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text/base64.hpp"

namespace ff::test {
namespace {

namespace json = boost::json;

std::array<int, 2> make_browser_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return ends;
}

// With --remote-debugging-pipe, Chromium reads commands from descriptor 3 and writes replies to 4. The copies
// at higher numbers keep one of the two from overwriting the other.
void become_browser(std::vector<std::string> arguments, int commands, int replies) {
  const int safe_commands = ::fcntl(commands, F_DUPFD, 100);
  const int safe_replies = ::fcntl(replies, F_DUPFD, 100);
  ::dup2(safe_commands, 3);
  ::dup2(safe_replies, 4);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

Browser::Browser(const std::filesystem::path& profile) {
  const auto commands = make_browser_pipe();
  const auto replies = make_browser_pipe();
  const std::vector<std::string> arguments{"/usr/bin/env",
                                           "HOME=" + profile.string(),
                                           chromium,
                                           "--headless",
                                           "--no-sandbox",
                                           "--disable-gpu",
                                           "--disable-dev-shm-usage",
                                           "--user-data-dir=" + profile.string(),
                                           "--no-first-run",
                                           "--remote-debugging-pipe"};
  std::signal(SIGPIPE, SIG_IGN);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setpgid(0, 0);  // it has many processes, which end together
    become_browser(arguments, commands[0], replies[1]);
  }
  ::setpgid(pid_, pid_);
  ::close(commands[0]);
  ::close(replies[1]);
  commands_ = commands[1];
  replies_ = replies[0];
}

Browser::~Browser() {
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(commands_);
  ::close(replies_);
}

std::string Browser::read_message() {
  while (true) {
    const auto end = received_.find('\0');
    if (end != std::string::npos) {
      auto message = received_.substr(0, end);
      received_.erase(0, end + 1);
      return message;
    }
    std::array<char, 65536> bytes;
    const auto size = ::read(replies_, bytes.data(), bytes.size());
    if (size <= 0) throw std::runtime_error("the browser has ended");
    received_.append(bytes.data(), static_cast<std::size_t>(size));
  }
}

json::object Browser::call(const std::string& method, json::object parameters) {
  json::object command{{"id", ++last_id_}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) command["sessionId"] = session_;
  const auto text = json::serialize(command) + '\0';
  for (std::string_view rest = text; !rest.empty();) {
    const auto written = ::write(commands_, rest.data(), rest.size());
    if (written <= 0) throw std::runtime_error("the browser has ended");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  while (true) {
    auto message = json::parse(read_message()).as_object();
    const auto* id = message.if_contains("id");
    if (!id || *id != last_id_) continue;  // an event
    if (const auto* error = message.if_contains("error"))
      throw std::runtime_error(method + ": " + json::serialize(*error));
    return std::move(message.at("result").as_object());
  }
}

void Browser::open(const std::string& url) {
  session_.clear();
  const auto target = call("Target.createTarget", {{"url", "about:blank"}}).at("targetId");
  const auto attached = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}});
  session_ = attached.at("sessionId").as_string();
  call("Page.navigate", {{"url", url}});
}

std::string Browser::evaluate(const std::string& expression) {
  const auto evaluated =
      call("Runtime.evaluate",
           {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
  if (const auto* thrown = evaluated.if_contains("exceptionDetails"))
    throw std::runtime_error(json::serialize(*thrown));
  const auto* value = evaluated.at("result").as_object().if_contains("value");
  if (!value) return "";
  return value->is_string() ? std::string(value->as_string()) : json::serialize(*value);
}

std::string Browser::wait_for_state(const std::string& state) {
  return evaluate(fmt::format(R"js(new Promise((done) => {{
    const look = () => {{
      if (document.body?.dataset.state === "{}") done(document.querySelector("main").innerText);
    }};
    new MutationObserver(look).observe(document, {{subtree: true, childList: true, attributes: true}});
    look();
  }}))js",
                              state));
}

void Browser::save_screenshot(const std::filesystem::path& file) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", 412}, {"height", 800}, {"deviceScaleFactor", 1}, {"mobile", true}});
  const auto data = call("Page.captureScreenshot").at("data");
  std::ofstream(file, std::ios::binary) << must(base64_decode(data.as_string()));
}

}  // namespace ff::test
