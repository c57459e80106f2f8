// Command-line arguments: declared by the command, filled in by the parser. The
// values must outlive the parse.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "cli/input/duration.hpp"
#include "cli/input/settings.hpp"
#include "cli/request.hpp"

namespace CLI {
class App;
}

namespace ff::cli {

// Arguments common to all commands, as parsed.
struct CommonArguments {
  std::vector<Setting> wanted;  // the settings that the command uses
  std::map<Setting, std::string> flags;
  std::string config_file;
  bool json = false;
};

// `type` is what help calls a value, and what completion offers: FILE, DIR, or choices with | between
// them.
class Arguments {
 public:
  Arguments(CLI::App& app, CommonArguments& common) : app_(app), common_(common) {}

  enum class Need { required, optional };
  void positional(const char* name, std::string& value, const char* help, Need need,
                  const char* type = "TEXT");

  // --name VALUE; without it, the value that is there stays.
  void option(const char* name, std::string& value, const char* type, const char* help);
  void option(const char* name, std::uint32_t& value, const char* help);
  void option(const char* name, Millis& value, const char* help);
  void flag(const char* name, bool& value, const char* help);
  void list(const char* name, std::vector<std::string>& values, const char* help);  // with commas

  // Into the fields of a request; what is not given is not there. A name without -- is a required
  // positional.
  void field(const char* name, Request& request, const char* field, const char* type,
             const char* help);
  void number_field(const char* name, Request& request, const char* path, const char* help);
  void duration_field(const char* name, Request& request, const char* path, const char* help);
  void time_field(const char* name, Request& request, const char* path, Side side,
                  const char* help);
  void json_field(const char* name, Request& request, const char* field, const char* help);
  void object_field(const char* name, Request& request, const char* field, const char* help);
  void list_field(const char* name, Request& request, const char* path, const char* help);
  void text_field(const char* name, Request& request, const char* path, const char* type,
                  const char* help);
  void texts_field(const char* name, Request& request, const char* path, const char* type,
                   const char* help);  // as often as wanted
  // KEY=VALUE, as often as wanted.
  void pairs_field(const char* name, Request& request, const char* field, const char* help);
  // DIMENSION=NUMBER, as often as wanted.
  void amounts_field(const char* name, Request& request, const char* field, const char* help);

  // The settings that the command uses; all but the secret ones are flags, too.
  void settings(std::initializer_list<Setting> used);
  void engine();                     // the engine that a client command talks to
  void execution(Request& request);  // the engine, and the id of one of its executions
  void of_namespace();               // the engine, and one of its namespaces

  // At the end of --help.
  void examples(const char* text);

  const CLI::App& program() const;  // with all its commands

 private:
  template <class Parse>
  void parsed(const char* name, const char* type, const char* help, Parse parse);
  template <class ParseValue>
  void parsed_pairs(const char* name, const char* type, const char* help, Request& request,
                    const char* field, ParseValue parse_value);

  void add_flag_of(Setting setting);

  CLI::App& app_;
  CommonArguments& common_;
};

}  // namespace ff::cli
