#include "store/valkey/calls/functions.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/try.hpp"
#include "store/valkey/boot/boot.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/send_all.hpp"

namespace ff::valkey_store {
namespace {

// Answer of one node to a question: [1, word, partitions that are moving, …].
Result<std::vector<Reply>> read_node(Result<Reply> reply, const Question& question,
                                     bool& complete) {
  auto list = list_of(std::move(reply));
  FF_TRY(list);
  const auto* moving = list->size() > 2 ? (*list)[2].as_array() : nullptr;
  if (!moving) return malformed(question.function);
  if (!moving->empty()) {
    if (question.absent == Absent::fail)
      return fail(Errc::store_unavailable,
                  fmt::format("partition {} is just moving to another node of the cluster",
                              text_in(moving->front())));
    complete = false;
  }
  return without(std::move(*list), 3);
}

}  // namespace

bool serves(const valkey::Node& node, std::uint16_t slot) {
  return std::ranges::any_of(node.slots, [slot](const SlotRange& range) {
    return range.first <= slot && slot <= range.last;
  });
}

std::vector<PartitionIndex> Functions::all_partitions() const {
  std::vector<PartitionIndex> all(partition_count());
  for (PartitionIndex i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

std::vector<std::string> Functions::with_keys(std::vector<std::string> command,
                                              std::string_view tag, std::string key) const {
  command.emplace_back(options_.cluster ? "2" : "1");
  command.push_back(std::move(key));
  if (options_.cluster) command.push_back(keys::never(tag));
  return command;
}

Request Functions::change(const ExecutionId& id, FunctionCall function, std::string origin) const {
  const auto& place = place_of(id);
  std::vector<std::string> command;
  command.reserve(7 + function.arguments.size());
  command.emplace_back("FCALL");
  command.emplace_back(function.function);
  command = with_keys(std::move(command), place.tag, keys::core(id));
  command.push_back(clock_.argument());
  command.push_back(std::move(origin));
  std::ranges::move(function.arguments, std::back_inserter(command));
  return {.command = std::move(command), .route = place.slot};
}

Request Functions::read(const ExecutionId& id, std::vector<std::string> arguments) const {
  const auto& place = place_of(id);
  auto command = with_keys({"FCALL_RO", "ff_get"}, place.tag, keys::core(id));
  std::ranges::move(arguments, std::back_inserter(command));
  return {.command = std::move(command), .route = place.slot};
}

Request Functions::at(const keys::Address& address, FunctionCall function, Access access) const {
  auto command =
      with_keys({access == Access::reads ? "FCALL_RO" : "FCALL", std::string(function.function)},
                address.place.tag, address.key);
  command.push_back(clock_.argument());
  std::ranges::move(function.arguments, std::back_inserter(command));
  return {.command = std::move(command), .route = address.place.slot};
}

Request Functions::at_partition(PartitionIndex partition, FunctionCall function,
                                Access access) const {
  const auto& place = places_.executions[partition];
  auto command =
      with_keys({access == Access::reads ? "FCALL_RO" : "FCALL", std::string(function.function)},
                place.tag, keys::events(place.tag));
  std::ranges::move(function.arguments, std::back_inserter(command));
  return {.command = std::move(command), .route = place.slot};
}

void Functions::call(Request request, Done done) {
  auto again = std::make_shared<Request>(request);
  client_.send(std::move(request), [this, again,
                                    done = std::move(done)](Result<Reply> reply) mutable {
    const auto* error = reply ? reply->as_error() : nullptr;
    // A killed function has written nothing: one that has cannot be killed.
    const bool lost =
        error && (mentions(*error, "Function not found") || mentions(*error, "killed by user"));
    if (!lost || background_.is_stopping()) return done(std::move(reply));
    background_.spawn(
        [this, again, done = std::make_shared<Done>(std::move(done))]() -> asio::awaitable<void> {
          auto loaded = co_await ensure_library(client_);
          if (loaded)
            client_.send(std::move(*again), std::move(*done));
          else
            (*done)(std::unexpected(std::move(loaded.error())));
        });
  });
}

asio::awaitable<std::vector<Result<Reply>>> Functions::call_all(std::vector<Request> requests) {
  return send_all(std::move(requests), [this](Request request, Done done) {
    call(std::move(request), std::move(done));
  });
}

Async<std::vector<Reply>> Functions::list_from(Request request) {
  std::vector<Request> requests;
  requests.push_back(std::move(request));
  auto replies = co_await call_all(std::move(requests));
  auto list = list_of(std::move(replies.front()));
  FF_CO_TRY(list);
  co_return without(std::move(*list), 2);
}

Async<Answers> Functions::ask(Question question) {
  co_return co_await ask(std::move(question), places_.executions);
}

Async<Answers> Functions::ask(Question question, const std::vector<PartitionIndex>& partitions) {
  std::vector<keys::Partition> places;
  places.reserve(partitions.size());
  for (const auto partition : partitions) places.push_back(places_.executions[partition]);
  co_return co_await ask(std::move(question), std::move(places));
}

std::vector<Request> Functions::requests_of(const Question& question,
                                            const std::vector<keys::Partition>& places) const {
  std::vector<Request> requests;
  for (const auto& node : client_.nodes()) {
    std::vector<std::string> command{"FCALL_RO", question.function, "0"};
    std::ranges::copy(question.arguments, std::back_inserter(command));
    const auto before = command.size();
    for (const auto& place : places)
      if (serves(node, place.slot)) command.push_back(place.tag);
    if (command.size() > before)
      requests.push_back({.command = std::move(command), .route = node.name});
  }
  return requests;
}

Async<Answers> Functions::ask(Question question, std::vector<keys::Partition> places) {
  constexpr int tries_max = 5;
  constexpr Millis pause_step{50};
  const auto deadline = std::chrono::steady_clock::now() + options_.request_timeout;
  for (int tried = 1;; ++tried) {
    Answers answers;
    std::optional<Error> failure;
    for (auto& reply : co_await call_all(requests_of(question, places))) {
      auto answer = read_node(std::move(reply), question, answers.complete);
      if (answer)
        answers.of_nodes.push_back(std::move(*answer));
      else
        failure = std::move(answer.error());
    }
    if (!failure) co_return answers;
    if (tried == tries_max || background_.is_stopping() ||
        std::chrono::steady_clock::now() >= deadline) {
      if (question.absent == Absent::fail || answers.of_nodes.empty())
        co_return std::unexpected(std::move(*failure));
      answers.complete = false;
      co_return answers;
    }
    // A slot may have moved to another node; whoever serves it knows.
    Request refresh{.command = {"EXISTS", keys::events(places.front().tag)},
                    .route = places.front().slot};
    static_cast<void>(co_await client_.run(std::move(refresh)));
    asio::steady_timer pause(background_.executor(), tried * pause_step);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

}  // namespace ff::valkey_store
