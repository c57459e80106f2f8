// What a command takes on the command line: declared by the command, filled in by the parser. The
// values must outlive the parse.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace ff::cli {

class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(app) {}

  enum class Need { required, optional };
  void positional(const char* name, std::string& value, const char* help, Need need);

  // --name VALUE; the value that is there is the default, and a variable may take its place.
  void option(const char* name, std::string& value, const char* help,
              const char* variable = nullptr);
  void option(const char* name, std::int32_t& value, const char* help);
  void seconds(const char* name, double& value, const char* help);
  void flag(const char* name, bool& value, const char* help);

  // At the end of --help.
  void examples(const char* text);

 private:
  CLI::App& app_;
};

}  // namespace ff::cli
