// A web site for a browser under test: one page on a free port of loopback.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace ff::test {

class PageServer {
 public:
  // The image /wait in the page arrives only after the page asked for /done: a script that works after the
  // page was read keeps it "loading", and the browser waits for that.
  explicit PageServer(std::string page);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  std::uint16_t port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ff::test
