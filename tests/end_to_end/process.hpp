// Real programs, run from a test and gone when it is over.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace ff::test {

struct Finished {
  int exit_code;  // 128 + signal if it was killed
  std::string out;
  std::string err;
};

class Process {
 public:
  explicit Process(std::vector<std::string> arguments, std::string input = "");
  ~Process();  // kills what is still running
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Reads what it prints, both to stdout and stderr, until `text` has come; all of it so far. Fails
  // the test if the program ends before.
  std::string wait_for_output(const std::string& text);

  // Output printed so far.
  std::string output_so_far();

  pid_t pid() const { return pid_; }
  void signal(int number);
  Finished wait();

 private:
  bool read_some(int wait_ms = -1);

  pid_t pid_;
  int out_;
  int err_;
  std::string out_text_;
  std::string err_text_;
};

inline Finished run(std::vector<std::string> arguments, std::string input = "") {
  return Process(std::move(arguments), std::move(input)).wait();
}

}  // namespace ff::test
