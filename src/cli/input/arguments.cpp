#include "cli/input/arguments.hpp"

#include <flowfabric/limits.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text/utf8.hpp"
#include "cli/input/number.hpp"

namespace ff::cli {
namespace {

// The parser says what is wrong, and that --help helps.
template <class T>
T or_refuse(Result<T> parsed, const std::string& name) {
  if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
  return std::move(*parsed);
}

// Comma-separated; blanks around an item do not belong to it.
Result<std::vector<std::string>> parse_list(const std::string& text) {
  auto items = CLI::detail::split(text, ',');
  for (auto& item : items) {
    CLI::detail::trim(item);
    if (item.empty())
      return fail(Errc::invalid_input,
                  "must be items with commas between them, none of them empty");
  }
  return items;
}

TimePoint now() { return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()); }

}  // namespace

// An option whose text `parse` takes. A name without -- is a required positional.
template <class Parse>
void Arguments::parsed(const char* name, const char* type, const char* help, Parse parse) {
  auto* option = app_.add_option_function<std::string>(name, parse, help)->type_name(type);
  if (*name != '-') option->required();
}

void Arguments::positional(const char* name, std::string& value, const char* help, Need need,
                           const char* type) {
  app_.add_option(name, value, help)->required(need == Need::required)->type_name(type);
}

void Arguments::option(const char* name, std::string& value, const char* type, const char* help) {
  app_.add_option(name, value, help)->type_name(type);
}

void Arguments::option(const char* name, std::uint32_t& value, const char* help) {
  parsed(name, "NUMBER", help, [&value, name](const std::string& text) {
    constexpr NumberRange range{0, std::numeric_limits<std::uint32_t>::max()};
    value = static_cast<std::uint32_t>(or_refuse(parse_number(text, range), name));
  });
}

void Arguments::option(const char* name, Millis& value, const char* help) {
  parsed(name, "DURATION", help, [&value, name](const std::string& text) {
    value = or_refuse(parse_duration(text), name);
  });
}

void Arguments::flag(const char* name, bool& value, const char* help) {
  app_.add_flag(name, value, help);
}

void Arguments::list(const char* name, std::vector<std::string>& values, const char* help) {
  parsed(name, "LIST", help,
         [&values, name](const std::string& text) { values = or_refuse(parse_list(text), name); });
}

void Arguments::field(const char* name, Request& request, const char* field, const char* type,
                      const char* help) {
  parsed(name, type, help,
         [&request, field](const std::string& text) { request.texts[field] = text; });
}

void Arguments::number_field(const char* name, Request& request, const char* path,
                             const char* help) {
  parsed(name, "NUMBER", help, [&request, name, path](const std::string& text) {
    request.set(path, or_refuse(parse_number(text), name));
  });
}

void Arguments::duration_field(const char* name, Request& request, const char* path,
                               const char* help) {
  parsed(name, "DURATION", help, [&request, name, path](const std::string& text) {
    request.set(path, or_refuse(parse_duration(text), name).count());
  });
}

void Arguments::time_field(const char* name, Request& request, const char* path, Side side,
                           const char* help) {
  parsed(name, "TIME", help, [&request, name, path, side](const std::string& text) {
    request.set(path, or_refuse(parse_time(text, now(), side), name).time_since_epoch().count());
  });
}

void Arguments::json_field(const char* name, Request& request, const char* field,
                           const char* help) {
  parsed(name, "JSON", help, [&request, name, field](const std::string& text) {
    boost::system::error_code failed;
    auto value = http::json::parse(text, failed);
    if (failed) throw CLI::ValidationError(name, "is not valid JSON");
    request.set(field, std::move(value));
  });
}

void Arguments::object_field(const char* name, Request& request, const char* field,
                             const char* help) {
  parsed(name, "JSON", help, [&request, name, field](const std::string& text) {
    boost::system::error_code failed;
    auto value = http::json::parse(text, failed);
    if (failed || !value.is_object()) throw CLI::ValidationError(name, "is not a JSON object");
    request.set(field, std::move(value));
  });
}

void Arguments::list_field(const char* name, Request& request, const char* path, const char* help) {
  parsed(name, "LIST", help, [&request, name, path](const std::string& text) {
    http::json::array list;
    for (const auto& part : or_refuse(parse_list(text), name)) list.emplace_back(part);
    request.set(path, std::move(list));
  });
}

void Arguments::text_field(const char* name, Request& request, const char* path, const char* type,
                           const char* help) {
  parsed(name, type, help,
         [&request, path](const std::string& text) { request.set(path, http::json::value(text)); });
}

void Arguments::texts_field(const char* name, Request& request, const char* path, const char* type,
                            const char* help) {
  const auto parse = [&request, path](const std::vector<std::string>& texts) {
    request.set(path, http::json::array(texts.begin(), texts.end()));
  };
  app_.add_option_function<std::vector<std::string>>(name, parse, help)
      ->type_name(type)
      ->allow_extra_args(false);
}

// The texts KEY=VALUE, whose values `parse_value` takes, as one object.
template <class ParseValue>
void Arguments::parsed_pairs(const char* name, const char* type, const char* help, Request& request,
                             const char* field, ParseValue parse_value) {
  const auto parse = [&request, name, type, field,
                      parse_value](const std::vector<std::string>& pairs) {
    http::json::object object;
    for (const auto& pair : pairs) {
      const auto equals = pair.find('=');
      if (equals == std::string::npos)
        throw CLI::ValidationError(name, fmt::format("'{}' is not {}", printable(pair), type));
      const auto key = pair.substr(0, equals);
      if (!object.emplace(key, parse_value(pair.substr(equals + 1))).second)
        throw CLI::ValidationError(name, fmt::format("'{}' is given twice", printable(key)));
    }
    request.set(field, std::move(object));
  };
  auto* option = app_.add_option_function<std::vector<std::string>>(name, parse, help);
  option->type_name(type);
  if (*name == '-') option->allow_extra_args(false);  // what follows is something else
}

void Arguments::pairs_field(const char* name, Request& request, const char* field,
                            const char* help) {
  parsed_pairs(name, "KEY=VALUE", help, request, field,
               [](const std::string& text) { return http::json::value(text); });
}

void Arguments::amounts_field(const char* name, Request& request, const char* field,
                              const char* help) {
  parsed_pairs(name, "DIMENSION=NUMBER", help, request, field, [name](const std::string& text) {
    constexpr NumberRange range{0, limits::amount_max};
    return http::json::value(or_refuse(parse_number(text, range), name));
  });
}

void Arguments::settings(std::initializer_list<Setting> used) {
  for (const auto setting : used) {
    common_.wanted.push_back(setting);
    if (!info(setting).secret) add_flag_of(setting);
  }
}

void Arguments::add_flag_of(Setting setting) {
  const auto& row = info(setting);
  const auto name = fmt::format("--{}", row.name);
  auto help = fmt::format("{} [{}]", row.meaning, row.variable);
  const auto set = [&flags = common_.flags, setting](const std::string& text) {
    flags[setting] = text;
  };
  if (row.type.empty()) {
    app_.add_flag_callback(
            name, [set] { set("true"); }, help)
        ->group("Settings");
    return;
  }
  if (!row.default_value.empty()) help += fmt::format(" (default: {})", row.default_value);
  app_.add_option_function<std::string>(name, set, help)
      ->type_name(std::string(row.type))
      ->group("Settings");
}

void Arguments::engine() {
  settings({Setting::url, Setting::token, Setting::token_file, Setting::ca_file});
}

void Arguments::execution(Request& request) {
  field("id", request, "id", "ID", "The execution");
  engine();
}

void Arguments::of_namespace() {
  settings({Setting::ns});
  engine();
}

void Arguments::examples(const char* text) { app_.footer(std::string("Examples:\n") + text); }

const CLI::App& Arguments::program() const { return *app_.get_parent(); }

}  // namespace ff::cli
