#include "store/valkey/confirmations.hpp"

#include <fmt/format.h>

#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"

namespace ff::valkey_store {
namespace {

constexpr Millis patience{10'000};

ClientOptions with_patience(ClientOptions options) {
  options.request_timeout = std::max(options.request_timeout, patience + Millis{2'000});
  return options;
}

std::unexpected<Error> uncertain(std::string_view why) {
  return fail(Errc::store_unavailable,
              fmt::format("{} before it confirmed that this is on disk; it may or may not be kept: "
                          "repeat the call",
                          why));
}

std::string run_in(const Result<Reply>& reply) {
  const auto* list = reply->as_array();
  return list && list->size() == 3 ? text_in(list->back()) : std::string{};
}

}  // namespace

Confirmations::Confirmations(asio::any_io_executor executor, const ClientOptions& options,
                             Durability durability)
    : durability_(durability), client_(std::move(executor), with_patience(options)) {}

void Confirmations::add(Written written, Done done) {
  const auto server_run = written.run;
  auto& round = rounds_[server_run];
  round.waiting.push_back({std::move(written), std::move(done)});
  if (!round.running) run(server_run);
}

// WAITAOF waits for the writes of its own connection, so one comes before it: after all that was answered on
// any other. Around both stands what tells whether they reached the same server on one connection; on a new
// one WAITAOF would have nothing to wait for.
void Confirmations::run(const std::string& server_run) {
  auto& round = rounds_[server_run];
  round.running = true;
  auto answers = std::make_shared<Answers>();
  answers->waiting = std::exchange(round.waiting, {});
  const auto slot = answers->waiting.front().written.slot;
  const auto probe_key = answers->waiting.front().written.probe_key;
  const auto send = [&](std::vector<std::string> command, auto done) {
    client_.send({.command = std::move(command), .route = slot, .repeat = Repeat::unsafe},
                 std::move(done));
  };
  const auto keep = [answers](Result<Reply> Answers::*where) {
    return [answers, where](Result<Reply> reply) { (*answers).*where = std::move(reply); };
  };
  const std::string replicas = durability_ == Durability::replicas ? "1" : "0";
  send({"CLIENT", "ID"}, keep(&Answers::connection));
  send({"FCALL", "ff_confirm", "1", probe_key}, keep(&Answers::write));
  send({"WAITAOF", "1", replicas, std::to_string(patience.count())}, keep(&Answers::wait));
  send({"CLIENT", "ID"}, keep(&Answers::same_connection));
  send({"FCALL_RO", "ff_run", "0"}, [this, server_run, answers](const Result<Reply>& reply) {
    finish(server_run, *answers, reply);
  });
}

void Confirmations::finish(const std::string& server_run, Answers& answers,
                           const Result<Reply>& same_run) {
  const auto safe_run = judge(answers, same_run);
  for (auto& [written, done] : answers.waiting) {
    if (!safe_run)
      done(std::unexpected(safe_run.error()));
    else if (written.run != *safe_run)
      done(uncertain("Valkey was restarted, or another node took over,"));
    else
      done({});
  }
  auto& round = rounds_[server_run];
  round.running = false;
  if (!round.waiting.empty())
    run(server_run);
  else
    rounds_.erase(server_run);
}

Result<std::string> Confirmations::judge(const Answers& answers,
                                         const Result<Reply>& same_run) const {
  for (const auto* reply :
       {&answers.connection, &answers.write, &answers.wait, &answers.same_connection, &same_run})
    if (!*reply) return std::unexpected(reply->error());
  FF_TRY(judge_wait(answers.wait));
  auto run = run_in(answers.write);
  const auto* first = answers.connection->as_int();
  const auto* last = answers.same_connection->as_int();
  if (run.empty() || !first || !last || *first != *last || run != run_in(same_run))
    return uncertain("the connection to Valkey was lost");
  return run;
}

Result<void> Confirmations::judge_wait(const Result<Reply>& reply) const {
  const auto* error = reply->as_error();
  if (error && mentions(*error, "replica instances")) return uncertain("another node took over");
  if (error)
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

}  // namespace ff::valkey_store
