#include "store/valkey/key_rings.hpp"

#include <flowfabric/limits.hpp>

#include "base/async/suspend.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"

namespace ff::valkey_store {
namespace {

constexpr PartitionIndex leader = 0;
constexpr std::size_t in_flight_max = 16;
constexpr std::chrono::seconds rotation_max{120};

// Other programs may write any number; one that is none has never been valid.
std::optional<TimePoint> expiry_in(const std::string& text) {
  const auto ms = parse_number<double>(text);
  constexpr auto latest = limits::time_max.time_since_epoch();
  if (!ms || !(*ms > 0)) return std::nullopt;
  return TimePoint{*ms < static_cast<double>(latest.count()) ? Millis{static_cast<Millis::rep>(*ms)}
                                                             : Millis{latest}};
}

// A kid or a secret of another program that this one cannot use is left out.
core::KeyRing ring_of(const std::vector<Reply>& flat) {
  constexpr std::string_view secret_prefix = "secret:";
  std::map<std::string, std::string, std::less<>> fields;
  for (std::size_t i = 0; i + 1 < flat.size(); i += 2)
    fields[text_in(flat[i])] = text_in(flat[i + 1]);
  core::KeyRing ring;
  if (const auto current = KeyId::parse(fields["current_kid"])) ring.current = *current;
  for (const auto& [name, value] : fields) {
    if (!name.starts_with(secret_prefix)) continue;
    auto kid = KeyId::parse(name.substr(secret_prefix.size()));
    auto secret = WaitpointSecret::parse(value);
    if (!kid || !secret) continue;
    core::KeyRing::Key key{.secret = std::move(*secret)};
    const auto expires_at = fields.find("expires_at:" + kid->str());
    if (ring.current != *kid && expires_at != fields.end())
      key.expires_at = expiry_in(expires_at->second);
    ring.keys.emplace(std::move(*kid), std::move(key));
  }
  return ring;
}

}  // namespace

// ---- Calls ----------------------------------------------------------------------------------------

asio::awaitable<std::vector<Result<std::vector<Reply>>>> KeyRings::call_at(
    std::vector<PartitionIndex> partitions, FunctionCall function, Writers& writers) {
  const auto deadline = std::chrono::steady_clock::now() + rotation_max;
  std::vector<Result<std::vector<Reply>>> answers;
  for (std::size_t begin = 0; begin < partitions.size(); begin += in_flight_max) {
    const auto end = std::min(begin + in_flight_max, partitions.size());
    if (parts_.background.is_stopping() || std::chrono::steady_clock::now() > deadline) {
      answers.resize(partitions.size(), fail(Errc::timed_out, "there was no time left"));
      break;
    }
    std::vector<Request> requests;
    for (std::size_t i = begin; i < end; ++i) {
      const auto& place = parts_.functions.places().executions[partitions[i]];
      requests.push_back(parts_.functions.unless_down(
          parts_.functions.at({.place = place, .key = keys::key_ring(place.tag)}, function,
                              Functions::Access::writes)));
    }
    auto replies = co_await parts_.functions.call_all(std::move(requests));
    for (auto& reply : replies) {
      auto list = list_of(std::move(reply));
      auto run = take_run(list);
      if (list && is_refusal(*list)) {
        const auto code = errc_from_name(text_in((*list)[1])).value_or(Errc::internal);
        list = fail(code, fmt::format("Valkey refused: {}", text_in((*list)[1])));
      } else if (list) {
        writers.emplace(std::move(run), partitions[answers.size()]);
        list = without(std::move(*list), 2);
      }
      answers.push_back(std::move(list));
    }
  }
  co_return answers;
}

// A run that confirms one write has confirmed all before it.
Async<void> KeyRings::confirm(const Writers& writers) {
  if (!parts_.confirmations) co_return Result<void>{};
  for (const auto& [run, partition] : writers) {
    const auto& place = parts_.functions.places().executions[partition];
    Result<void> confirmed;
    co_await suspend_until([&](Continuation go_on) {
      parts_.confirmations->add({place.slot, keys::probe(place.tag), run},
                                [&confirmed, go_on = std::move(go_on)](Result<void> given) mutable {
                                  confirmed = std::move(given);
                                  go_on();
                                });
    });
    FF_CO_TRY(confirmed);
  }
  co_return Result<void>{};
}

Async<KeyRings::Ring> KeyRings::read() {
  const auto& place = parts_.functions.places().executions[leader];
  Request request{.command = {"HGETALL", keys::key_ring(place.tag)}, .route = place.slot};
  auto reply = co_await parts_.client.run(parts_.functions.unless_down(std::move(request)));
  FF_CO_TRY(reply);
  if (const auto* error = reply->as_error()) co_return server_error(*error);
  auto* flat = reply->as_array();
  if (!flat) co_return malformed("HGETALL");
  co_return std::move(*flat);
}

// ---- Installing -----------------------------------------------------------------------------------

Async<KeyRings::Ring> KeyRings::install_leader() {
  SystemRandom random;
  const auto& configured = parts_.configured;
  const auto secret = configured ? *configured : core::random_secret(random);
  FunctionCall function{"ff_key_ring_install",
                        {core::first_kid().str(), secret.to_hex(), configured ? "1" : "0"}};
  Writers writers;
  std::vector<PartitionIndex> where{leader};
  auto answers = co_await call_at(std::move(where), std::move(function), writers);
  auto& answer = answers.front();
  FF_CO_TRY(answer);
  const auto outcome =
      answer->size() == 2 ? from_name<core::RingInstall>(text_in(answer->front())) : std::nullopt;
  auto* ring = outcome ? answer->back().as_array() : nullptr;
  if (!ring) co_return malformed("ff_key_ring_install");

  const bool is_new = *outcome == core::RingInstall::installed;
  others_wait_ |= is_new;
  if (is_new) log::info("waitpoint secret installed kid={}", core::first_kid().str());
  if (configured && *outcome == core::RingInstall::mismatched && !told_of_mismatch_) {
    told_of_mismatch_ = true;
    log::warn("{}", core::mismatch_warning(parts_.functions.partition_count()));
  }
  co_return std::move(*ring);
}

Async<void> KeyRings::join_others(const Ring& leading) {
  auto partitions = parts_.functions.all_partitions();
  partitions.erase(partitions.begin());
  FunctionCall function{"ff_key_ring_join", {}};
  for (const auto& each : leading) function.arguments.push_back(text_in(each));
  Writers writers;
  auto answers = co_await call_at(std::move(partitions), std::move(function), writers);

  std::map<std::string, std::size_t> counts;
  std::size_t unreachable = 0;
  for (auto& answer : answers) {
    if (!answer && !is_unreachable(answer.error())) co_return std::unexpected(answer.error());
    if (!answer)
      ++unreachable;
    else if (!answer->empty())
      ++counts[text_in(answer->front())];
  }
  others_wait_ = unreachable > 0;
  if (counts["repaired"] > 0)
    log::warn("waitpoint secrets: repaired in {} partition(s), from partition 0",
              counts["repaired"]);
  if (counts["mismatched"] > 0)
    log::warn(
        "waitpoint secrets: {} partition(s) differ from partition 0; ff secrets rotate makes them "
        "alike",
        counts["mismatched"]);
  co_return Result<void>{};
}

Async<void> KeyRings::install() {
  const auto leading = co_await install_leader();
  if (!leading && is_unreachable(leading.error())) {
    others_wait_ = parts_.looks_after_all;
    log::warn("waitpoint secrets cannot be read now: {}", leading.error().message);
    co_return Result<void>{};
  }
  FF_CO_TRY(leading);
  if (!others_wait_) co_return Result<void>{};
  co_return co_await join_others(*leading);
}

Async<void> KeyRings::install_if_missing() {
  const auto ring = co_await read();
  FF_CO_TRY(ring);
  if (!ring->empty() && !others_wait_) co_return Result<void>{};
  co_return co_await install();
}

// ---- Operations -----------------------------------------------------------------------------------

Async<core::KeyRing> KeyRings::answer(core::ReadKeyRing) {
  auto ring = co_await read();
  FF_CO_TRY(ring);
  if (ring->empty()) {
    FF_CO_TRY(co_await install());
    ring = co_await read();
    FF_CO_TRY(ring);
  }
  co_return ring_of(*ring);
}

Async<RotateSecretReply> KeyRings::answer(core::RotateKeyRing command) {
  FF_CO_TRY(co_await install_if_missing());
  const auto& [kid, secret, grace] = command.rotation;
  const FunctionCall function{"ff_key_ring_rotate",
                              {kid.str(), secret.to_hex(), std::to_string(grace.count())}};
  Writers writers;
  std::vector<PartitionIndex> first{leader};
  auto led = co_await call_at(std::move(first), function, writers);
  if (const auto& answer = led.front(); !answer) {
    if (answer.error().code == Errc::rotation_conflict) co_return core::rotation_conflict(kid);
    co_return std::unexpected(answer.error());
  }

  auto others = parts_.functions.all_partitions();
  others.erase(others.begin());
  const auto answers = co_await call_at(others, function, writers);
  RotateSecretReply reply{.rotated = 1, .new_kid = kid};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) {
      ++reply.rotated;
      continue;
    }
    reply.failed.push_back(others[i]);
    log::error("waitpoint_hmac_rotation_failed partition={} new_kid={} error={}", others[i],
               kid.str(), answers[i].error().message);
  }
  others_wait_ |= parts_.looks_after_all && !reply.failed.empty();
  FF_CO_TRY(co_await confirm(writers));
  co_return reply;
}

}  // namespace ff::valkey_store
