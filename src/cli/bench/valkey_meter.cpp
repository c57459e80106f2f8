#include "cli/bench/valkey_meter.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/try.hpp"
#include "store/valkey/boot/url.hpp"

namespace ff::cli::bench {
namespace {

// Behind `name` and up to what is no number any more; 0 if it is not there.
double number_after(const std::string& info, const std::string& name,
                    std::string_view inside = "") {
  auto at = info.find("\n" + name);
  if (at == std::string::npos) return 0;
  at += name.size() + 1;
  if (!inside.empty()) {
    at = info.find(inside, at);
    if (at == std::string::npos) return 0;
    at += inside.size();
  }
  return std::strtod(info.c_str() + at, nullptr);
}

}  // namespace

Result<std::unique_ptr<ValkeyMeter>> ValkeyMeter::open(const std::string& url) {
  if (!valkey_store::is_valkey_url(url)) return std::unique_ptr<ValkeyMeter>();
  auto options = valkey_store::parse_url(url);
  FF_TRY(options);
  return std::unique_ptr<ValkeyMeter>(new ValkeyMeter(std::move(options->client)));
}

Result<valkey::Reply> ValkeyMeter::ask(const valkey::Node& node, std::vector<std::string> command) {
  valkey::Request request{.command = std::move(command), .route = node.name};
  return asio::co_spawn(runtime_.executor(), client_.run(std::move(request)), asio::use_future)
      .get();
}

Result<std::string> ValkeyMeter::info(const valkey::Node& node) {
  auto reply = ask(node, {"INFO", "all"});
  FF_TRY(reply);
  const auto* text = reply->as_text();
  if (!text) return fail(Errc::malformed_response, "Valkey does not answer INFO with a text");
  return *text;
}

Result<ValkeyUse> ValkeyMeter::read() {
  // A cluster's nodes are known once it has answered.
  valkey::Request ping{.command = {"PING"}};
  auto reply =
      asio::co_spawn(runtime_.executor(), client_.run(std::move(ping)), asio::use_future).get();
  FF_TRY(reply);
  ValkeyUse sum;
  for (const auto& node : client_.nodes()) {
    const auto text = info(node);
    FF_TRY(text);
    for (const auto* function : {"cmdstat_fcall:", "cmdstat_fcall_ro:"}) {
      sum.calls += number_after(*text, function, "calls=");
      sum.call_us += number_after(*text, function, "usec=");
    }
    // Payloads travel beside the functions. Half of what is set are results, which functions set.
    sum.call_us += number_after(*text, "cmdstat_get:", "usec=");
    sum.call_us += number_after(*text, "cmdstat_set:", "usec=") / 2;
    sum.cpu_us +=
        1e6 * (number_after(*text, "used_cpu_sys:") + number_after(*text, "used_cpu_user:"));
    sum.memory_bytes += number_after(*text, "used_memory:");
    sum.commands += number_after(*text, "total_commands_processed:");
  }
  return sum;
}

bool ValkeyMeter::watch_long_calls() {
  constexpr const char* setting = "slowlog-log-slower-than";
  constexpr const char* noted_from_us = "500";
  for (const auto& node : client_.nodes()) {
    const auto before = ask(node, {"CONFIG", "GET", setting});
    const auto* parts = before ? before->as_array() : nullptr;
    if (!parts || parts->size() != 2 || !(*parts)[1].as_text()) return false;
    slower_than_ = *(*parts)[1].as_text();
    const auto set = ask(node, {"CONFIG", "SET", setting, noted_from_us});
    if (!set || set->as_error()) return false;
    static_cast<void>(ask(node, {"SLOWLOG", "RESET"}));
  }
  return true;
}

// An entry: number, time, microseconds, the command's words, and more.
Result<ValkeyMeter::LongCalls> ValkeyMeter::long_calls(Millis limit) {
  LongCalls calls;
  for (const auto& node : client_.nodes()) {
    const auto log = ask(node, {"SLOWLOG", "GET", "-1"});
    static_cast<void>(ask(node, {"CONFIG", "SET", "slowlog-log-slower-than", slower_than_}));
    FF_TRY(log);
    const auto* entries = log->as_array();
    if (!entries)
      return fail(Errc::malformed_response, "Valkey does not answer SLOWLOG with a list");
    for (const auto& entry : *entries) {
      const auto* parts = entry.as_array();
      if (!parts || parts->size() < 4) continue;
      const auto* us = (*parts)[2].as_int();
      const auto* words = (*parts)[3].as_array();
      if (!us || !words || words->empty()) continue;
      const auto text = [&](std::size_t i) {
        const auto* word = i < words->size() ? (*words)[i].as_text() : nullptr;
        return word ? *word : std::string{};
      };
      const auto ms = static_cast<double>(*us) / 1'000;
      if (ms > static_cast<double>(limit.count())) ++calls.over;
      if (ms <= calls.longest.ms) continue;
      const bool is_function = text(0).starts_with("FCALL");
      calls.longest = {.ms = ms, .what = is_function ? text(1) : text(0)};
    }
  }
  return calls;
}

Result<void> add_use(Figures& figures, ValkeyMeter& meter, const ValkeyUse& before, double count) {
  const auto after = meter.read();
  FF_TRY(after);
  figures["valkey_us_per_lifecycle"] = (after->call_us - before.call_us) / count;
  figures["valkey_cpu_us_per_lifecycle"] = (after->cpu_us - before.cpu_us) / count;
  figures["valkey_calls_per_lifecycle"] = (after->calls - before.calls) / count;
  figures["valkey_commands_per_lifecycle"] = (after->commands - before.commands) / count;
  return {};
}

}  // namespace ff::cli::bench
