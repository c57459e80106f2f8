// A process of our own program that is killed in the middle of its work.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <sys/types.h>

namespace ff::crash {

class Victim {
 public:
  // Runs this program again, with the arguments for run_load().
  Victim(const std::filesystem::path& directory, std::uint64_t seed);
  ~Victim();  // kills it
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // Until it says that its load begins, or ends.
  void wait_until_ready();
  // Lets it work on for so long.
  void leave_alone(std::chrono::milliseconds time);
  // Everything that it told. False in `killed` if it had ended by itself.
  struct End {
    std::string told;
    bool killed;
  };
  End kill();

 private:
  // False when it will never tell anything again.
  bool read_some(int timeout_ms);

  pid_t pid_;
  int pipe_;
  std::string told_;
};

}  // namespace ff::crash
