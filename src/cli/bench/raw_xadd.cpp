#include "cli/bench/raw_xadd.hpp"

#include <algorithm>
#include <future>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/async/runtime.hpp"
#include "base/try.hpp"
#include "store/valkey/boot/url.hpp"
#include "valkey/client.hpp"
#include "valkey/cluster/slot.hpp"

namespace ff::cli::bench {
namespace {

constexpr std::uint32_t calls_under_way = 64;  // of each writer

Async<void> call_again_and_again(valkey::Client& client, valkey::Request request,
                                 std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    valkey::Request copy = request;
    const auto reply = co_await client.run(std::move(copy));
    FF_CO_TRY(reply);
    if (!reply->as_text())
      co_return fail(Errc::malformed_response, "Valkey does not answer XADD with an id");
  }
  co_return Result<void>{};
}

}  // namespace

Result<std::optional<double>> raw_xadd_rate(const Settings& settings) {
  if (!valkey_store::is_valkey_url(settings.store)) return std::nullopt;
  auto options = valkey_store::parse_url(settings.store);
  FF_TRY(options);
  Runtime runtime(2);
  valkey::Client client(runtime.executor(), std::move(options->client));
  const auto each = std::max<std::uint64_t>(settings.tasks / settings.workers / calls_under_way, 1);
  const auto key_of = [](std::uint32_t writer) { return fmt::format("ff:bench:xadd:{}", writer); };
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::future<Result<void>>> running;
  for (std::uint32_t writer = 0; writer < settings.workers; ++writer) {
    const auto key = key_of(writer);
    const valkey::Request add{.command = {"XADD", key, "MAXLEN", "~", "10000", "*", "frame",
                                          std::string(settings.frame_bytes, 'x')},
                              .route = valkey::slot_of(key)};
    for (std::uint32_t i = 0; i < calls_under_way; ++i)
      running.push_back(asio::co_spawn(runtime.executor(), call_again_and_again(client, add, each),
                                       asio::use_future));
  }
  Result<void> all;
  for (auto& call : running)
    if (auto result = call.get(); !result && all) all = result;
  const auto seconds = seconds_since(start);
  for (std::uint32_t writer = 0; writer < settings.workers; ++writer) {
    valkey::Request remove{.command = {"UNLINK", key_of(writer)},
                           .route = valkey::slot_of(key_of(writer))};
    auto removed =
        asio::co_spawn(runtime.executor(), client.run(std::move(remove)), asio::use_future).get();
    if (!removed && all) all = std::unexpected(removed.error());
  }
  FF_TRY(all);
  return static_cast<double>(each * calls_under_way * settings.workers) / seconds;
}

}  // namespace ff::cli::bench
