#include "store/valkey/calls/functions.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/try.hpp"
#include "store/valkey/boot/boot.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"
#include "store/valkey/calls/send_all.hpp"

namespace ff::valkey_store {
namespace {

constexpr std::string_view slice =
    "slice:2:";  // milliseconds of Valkey's time that a call for many partitions takes
constexpr std::string_view rest_prefix = "rest:";
constexpr std::string_view queue_prefix = "queue:";

}  // namespace

// Answer of one node to a question: [1, word, [partitions that are moving, …, rest:N, queue:Q], …].
Result<Functions::Slice> Functions::read_slice(Result<Reply> reply, const Question& question) {
  auto list = list_of(std::move(reply));
  FF_TRY(list);
  const auto* tags = list->size() > 2 ? (*list)[2].as_array() : nullptr;
  if (!tags) return malformed(question.function);
  Slice found;
  for (const auto& tag : *tags) {
    auto text = text_in(tag);
    if (text.starts_with(rest_prefix))
      found.places_left = parse_number<std::size_t>(text.substr(rest_prefix.size())).value_or(0);
    else if (text.starts_with(queue_prefix))
      found.after = text.substr(queue_prefix.size());
    else
      found.moving.push_back(std::move(text));
  }
  found.parts = without(std::move(*list), 3);
  return found;
}

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
  return change({.place = place_of(id), .key = keys::core(id)}, std::move(function),
                std::move(origin));
}

Request Functions::change(const keys::Address& address, FunctionCall function,
                          std::string origin) const {
  const auto& place = address.place;
  std::vector<std::string> command;
  command.reserve(7 + function.arguments.size());
  command.emplace_back("FCALL");
  command.emplace_back(function.function);
  command = with_keys(std::move(command), place.tag, address.key);
  command.push_back(clock_.argument());
  command.push_back(std::move(origin));
  std::ranges::move(function.arguments, std::back_inserter(command));
  return {.command = std::move(command), .route = place.slot};
}

Request Functions::change(const std::vector<keys::Address>& addresses,
                          FunctionCall function) const {
  const auto& place = addresses.front().place;
  const auto count = addresses.size() + (options_.cluster ? 1 : 0);
  std::vector<std::string> command{"FCALL", std::string(function.function), std::to_string(count)};
  command.reserve(command.size() + count + 1 + function.arguments.size());
  for (const auto& address : addresses) command.push_back(address.key);
  if (options_.cluster) command.push_back(keys::never(place.tag));
  command.push_back(clock_.argument());
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
  return unless_down({.command = std::move(command), .route = place.slot});
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

std::vector<PartitionIndex> Functions::neighbours_of(PartitionIndex partition) const {
  const auto slot = places_.executions[partition].slot;
  std::vector<PartitionIndex> found{partition};
  for (const auto& node : client_.nodes()) {
    if (!serves(node, slot)) continue;
    for (PartitionIndex i = 0; i < partition_count(); ++i)
      if (i != partition && serves(node, places_.executions[i].slot)) found.push_back(i);
  }
  return found;
}

Request Functions::unless_down(Request request) const {
  if (options_.cluster) request.patience = Patience::unless_down;
  return request;
}

Functions::Shares Functions::shares_of(std::vector<keys::Partition> places) const {
  Shares shares;
  for (const auto& node : client_.nodes()) {
    const auto of_node = std::ranges::stable_partition(
        places, [&](const keys::Partition& place) { return !serves(node, place.slot); });
    if (of_node.empty()) continue;
    shares.of_nodes.push_back({.node = node.name, .places = {of_node.begin(), of_node.end()}});
    places.erase(of_node.begin(), of_node.end());
  }
  shares.unserved = std::move(places);
  return shares;
}

Request Functions::request_of(const Question& question, const Share& share) const {
  std::vector<std::string> command{"FCALL_RO", question.function, "0"};
  std::ranges::copy(question.arguments, std::back_inserter(command));
  for (const auto& place : share.places) command.push_back(place.tag);
  command.push_back(std::string(slice) + share.after);
  auto request = unless_down({.command = std::move(command), .route = share.node});
  if (options_.cluster && question.moving == Moving::skip) request.patience = Patience::brief;
  return request;
}

void Functions::note_answer(const Share& share, const Error* failure) {
  const auto& node = share.node.text;
  if (!failure && silent_nodes_.erase(node) > 0)
    log::info(
        "valkey={} answers again; its partitions are back in claims, timers, counts and lists",
        node);
  if (failure && silent_nodes_.insert(node).second)
    log::warn(
        "valkey={} does not answer; claims, timers, counts and lists go on without its "
        "partitions until it does: {}",
        node, failure->message);
}

Async<Answers> Functions::ask(Question question, std::vector<keys::Partition> places) {
  constexpr int tries_max = 5;
  constexpr Millis pause_step{50};
  const auto deadline = std::chrono::steady_clock::now() + options_.request_timeout;
  for (int tried = 1;; ++tried) {
    auto shares = shares_of(places);
    Answers answers{.missing = std::move(shares.unserved)};
    std::set<std::string> moving;
    std::optional<Error> failure;
    auto asked = std::move(shares.of_nodes);
    while (!asked.empty()) {
      std::vector<Request> requests;
      for (const auto& share : asked) requests.push_back(request_of(question, share));
      auto replies = co_await call_all(std::move(requests));
      std::vector<Share> further;
      for (std::size_t i = 0; i < replies.size(); ++i) {
        auto& share = asked[i];
        auto answer = read_slice(std::move(replies[i]), question);
        if (!answer && !is_unreachable(answer.error())) co_return std::unexpected(answer.error());
        note_answer(share, answer ? nullptr : &answer.error());
        if (!answer) {
          std::ranges::copy(share.places, std::back_inserter(answers.missing));
          failure = std::move(answer.error());
          continue;
        }
        moving.insert(answer->moving.begin(), answer->moving.end());
        const bool is_enough = question.is_enough && question.is_enough(answer->parts);
        answers.of_nodes.push_back(std::move(answer->parts));
        if (answer->places_left == 0 || is_enough) continue;
        const bool goes_on_inside =
            answer->places_left == share.places.size() && answer->after > share.after;
        if (answer->places_left >= share.places.size() && !goes_on_inside)
          co_return malformed(question.function);
        share.after = std::move(answer->after);
        share.places.erase(share.places.begin(),
                           share.places.end() - static_cast<std::ptrdiff_t>(answer->places_left));
        further.push_back(std::move(share));
      }
      asked = std::move(further);
    }
    for (const auto& place : places)
      if (moving.contains(place.tag)) answers.missing.push_back(place);

    const bool again = question.moving == Moving::ask_again && !moving.empty() &&
                       tried < tries_max && !background_.is_stopping() &&
                       std::chrono::steady_clock::now() < deadline;
    if (!again && failure && answers.of_nodes.empty()) co_return std::unexpected(*failure);
    if (!again) co_return answers;
    // A slot has moved to another node, or will have soon; the node that serves it says so.
    Request refresh{.command = {"EXISTS", keys::events(answers.missing.back().tag)},
                    .route = answers.missing.back().slot};
    static_cast<void>(co_await client_.run(unless_down(std::move(refresh))));
    asio::steady_timer pause(background_.executor(), tried * pause_step);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

}  // namespace ff::valkey_store
