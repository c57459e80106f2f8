// Background scanners: each looks for one kind of thing that is due and acts on it.
#pragma once

#include <flowfabric/async.hpp>
#include <flowfabric/time.hpp>

#include <optional>
#include <string_view>

namespace ff {

struct Scan {
  std::size_t seen = 0;
  std::size_t changed = 0;
  bool more = false;                   // the batch was full: come back at once
  std::optional<Millis> next_in = {};  // when the next thing comes due, if that is known
};

class Scanner {
 public:
  virtual ~Scanner() = default;
  virtual std::string_view name() const = 0;

  // One bounded batch. Called again before it has ended only if it is stuck.
  virtual Async<Scan> run_once() = 0;
};

// Runs a scanner that belongs to somebody else.
class RunsScanner final : public Scanner {
 public:
  explicit RunsScanner(Scanner& scanner) : scanner_(scanner) {}
  std::string_view name() const override { return scanner_.name(); }
  Async<Scan> run_once() override { return scanner_.run_once(); }

 private:
  Scanner& scanner_;
};

}  // namespace ff
