#include "store/valkey/confirmations.hpp"

#include <fmt/format.h>

namespace ff::valkey {
namespace {

constexpr Millis patience{10'000};

ClientOptions with_patience(ClientOptions options) {
  options.request_timeout = std::max(options.request_timeout, patience + Millis{2'000});
  return options;
}

}  // namespace

Confirmations::Confirmations(asio::any_io_executor executor, const ClientOptions& options,
                             Durability durability)
    : durability_(durability), client_(std::move(executor), with_patience(options)) {}

void Confirmations::add(std::uint16_t slot, std::string probe_key, Done done) {
  auto& round = rounds_[slot];
  round.waiting.push_back(std::move(done));
  if (!round.running) run(slot, probe_key);
}

// WAITAOF waits for the writes of its own connection; a write there comes after all that was answered
// before on any other.
void Confirmations::run(std::uint16_t slot, const std::string& probe_key) {
  auto& round = rounds_[slot];
  round.running = true;
  auto waiting = std::exchange(round.waiting, {});
  client_.send({.command = {"SET", probe_key, "1"}, .route = slot, .repeat = Repeat::unsafe},
               [](const Result<Reply>&) {});
  const std::string replicas = durability_ == Durability::replicas ? "1" : "0";
  Request wait{.command = {"WAITAOF", "1", replicas, std::to_string(patience.count())},
               .route = slot,
               .repeat = Repeat::unsafe};
  client_.send(std::move(wait),
               [this, slot, probe_key, waiting = std::move(waiting)](Result<Reply> reply) mutable {
                 const auto judged = judge(reply);
                 for (auto& done : waiting) done(judged);
                 auto& next = rounds_[slot];
                 next.running = false;
                 if (!next.waiting.empty()) run(slot, probe_key);
               });
}

Result<void> Confirmations::judge(const Result<Reply>& reply) const {
  if (!reply) return std::unexpected(reply.error());
  if (const auto* error = reply->as_error())
    return fail(Errc::store_not_writable,
                fmt::format("Valkey cannot confirm that it has written to disk: {}; set appendonly "
                            "to yes, or leave durability= out of the store's URL",
                            error->text));
  const auto* counts = reply->as_array();
  const auto reached = [&](std::size_t i, std::int64_t least) {
    const auto* count = counts && i < counts->size() ? (*counts)[i].as_int() : nullptr;
    return count && *count >= least;
  };
  if (reached(0, 1) && reached(1, durability_ == Durability::replicas ? 1 : 0)) return {};
  return fail(Errc::store_unavailable,
              fmt::format("Valkey has not confirmed within {} s that this is on disk{}; it may or "
                          "may not be kept: repeat the call",
                          patience.count() / 1000,
                          durability_ == Durability::replicas ? " here and at a replica" : ""));
}

}  // namespace ff::valkey
