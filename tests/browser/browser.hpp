// A headless Chromium that a test drives: opens pages, runs script in them, looks at them.
#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

#include <boost/json.hpp>

namespace ff::test {

inline constexpr const char* chromium = "/usr/bin/chromium";

class Browser {
 public:
  // `profile` is a directory for its files.
  explicit Browser(const std::filesystem::path& profile);
  ~Browser();  // kills it
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // Opens a page in a tab of its own; returns when it has begun to arrive.
  void open(const std::string& url);

  // The value of a JavaScript expression in the page, as text. A promise is waited for.
  std::string evaluate(const std::string& expression);

  // The visible text of the page, once <body data-state> is `state`.
  std::string wait_for_state(const std::string& state);

  // A PNG of the page as a phone shows it.
  void save_screenshot(const std::filesystem::path& file);

 private:
  // A command of the DevTools protocol and its result.
  boost::json::object call(const std::string& method, boost::json::object parameters = {});
  std::string read_message();

  pid_t pid_;
  int commands_;  // descriptors of the pipe
  int replies_;
  std::string received_;
  std::string session_;  // of the tab
  std::int64_t last_id_ = 0;
};

}  // namespace ff::test
