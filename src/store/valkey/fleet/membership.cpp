#include "store/valkey/fleet/membership.hpp"

#include <flowfabric/limits.hpp>

#include "base/log.hpp"
#include "base/try.hpp"
#include "store/valkey/calls/answers.hpp"
#include "store/valkey/calls/fields.hpp"

namespace ff::valkey_store {
namespace {

// So long after a claim looked for work another one is likely to come: one that waits looks again when its wait
// is over.
constexpr Millis claims_for = limits::wait_max + Millis{5'000};

// Processes without scanners may be very many; they are slower to join and to leave.
constexpr int slowness = 4;

}  // namespace

std::shared_ptr<const Division> Membership::division() const {
  const std::lock_guard lock(mutex_);
  return division_;
}

bool Membership::looks_after(PartitionIndex partition) const {
  return !parts_.looks_after_none &&
         division()->sweeps(parts_.functions.places().executions[partition].tag);
}

std::vector<PartitionIndex> Membership::own_partitions() const {
  if (parts_.looks_after_none) return {};
  const auto division = this->division();
  auto partitions = parts_.functions.all_partitions();
  std::erase_if(partitions, [&](PartitionIndex each) {
    return !division->sweeps(parts_.functions.places().executions[each].tag);
  });
  return partitions;
}

std::vector<keys::Partition> Membership::own(const std::vector<keys::Partition>& places) const {
  if (parts_.looks_after_none) return {};
  const auto division = this->division();
  auto found = places;
  std::erase_if(found, [&](const keys::Partition& each) { return !division->sweeps(each.tag); });
  return found;
}

void Membership::set_division(Division division) {
  {
    const std::lock_guard lock(mutex_);
    if (*division_ == division) return;
    division_ = std::make_shared<Division>(std::move(division));
  }
  on_change_();
}

bool Membership::claims() const {
  const auto at = claimed_at_.load();
  return at != never && Steady::now() - Steady::time_point{Steady::duration{at}} < claims_for;
}

// The first claim after a pause is told at once.
void Membership::note_claim() {
  if (!parts_.joins) return;
  const bool did = claims();
  claimed_at_ = Steady::now().time_since_epoch().count();
  if (!did) wakeup_.wake();
}

asio::awaitable<void> Membership::join() {
  if (!takes_part()) co_return;
  const auto beaten = co_await beat(parts_.pace.lives);
  if (!beaten) note_failure(beaten.error());
}

void Membership::note_failure(const Error& error) {
  if (std::exchange(is_lost_, true)) return;
  log::warn("valkey: the other servers are not known; this one looks after all partitions: {}",
            error.message);
  set_division({});
}

Membership::Steady::time_point Membership::next_beat() const {
  const auto interval = parts_.sweeps ? parts_.pace.interval : slowness * parts_.pace.interval;
  return std::min(beaten_at_ + interval, std::max(first_death_, beaten_at_ + interval / 4));
}

asio::awaitable<void> Membership::keep_up() {
  while (!parts_.background.is_stopping()) {
    // A process that has nothing to tell waits for its first claim.
    const auto until = takes_part() || is_known_ ? next_beat() : Steady::time_point::max();
    co_await wakeup_.wait_until(until);
    if (parts_.background.is_stopping() || is_leaving_) co_return;
    const bool has_news = takes_part() != is_known_ || claims() != told_claims_;
    if (!has_news && Steady::now() < next_beat()) continue;
    const auto lives = parts_.sweeps ? parts_.pace.lives : slowness * parts_.pace.lives;
    const auto beaten = co_await beat(takes_part() ? lives : Millis{0});
    if (beaten || parts_.background.is_stopping()) continue;
    if (Steady::now() - beaten_at_ > lives) note_failure(beaten.error());
    co_await wakeup_.wait_until(Steady::now() + parts_.pace.interval / 4);
  }
}

asio::awaitable<void> Membership::leave() {
  is_leaving_ = true;
  if (is_known_) static_cast<void>(co_await beat(Millis{0}));
}

// 0: it ends. The answer has the others, and for how long they live without another sign.
Async<void> Membership::beat(Millis lives) {
  const bool told_claims = claims();
  const auto flags = fmt::format("{}{}", parts_.sweeps ? "s" : "", told_claims ? "c" : "");
  const keys::Partition place{std::string(keys::servers_tag)};
  FunctionCall function{"ff_server_beat", {parts_.process, std::to_string(lives.count()), flags}};
  auto request = parts_.functions.unless_down(
      parts_.functions.at({.place = place, .key = keys::servers(place.tag)}, std::move(function),
                          Functions::Access::writes));
  const auto asked_at = Steady::now();
  const auto list = co_await parts_.functions.list_from(std::move(request));
  FF_CO_TRY(list);
  beaten_at_ = asked_at;
  told_claims_ = told_claims;
  is_known_ = lives.count() > 0;
  if (std::exchange(is_lost_, false)) log::info("valkey: the other servers are known again");
  first_death_ = Steady::time_point::max();
  if (is_leaving_) co_return Result<void>{};
  if (!is_known_) {
    set_division({});
    co_return Result<void>{};
  }
  std::vector<Member> members;
  for (std::size_t i = 0; i + 2 < list->size(); i += 3) {
    const auto text = text_in((*list)[i + 1]);
    members.push_back({.process = text_in((*list)[i]),
                       .sweeps = text.find('s') != std::string::npos,
                       .claims = text.find('c') != std::string::npos});
    const auto left = parse_number<std::int64_t>(text_in((*list)[i + 2]));
    if (left && members.back().process != parts_.process)
      first_death_ = std::min(first_death_, asked_at + Millis{*left + 1});
  }
  set_division(Division(parts_.process, members));
  co_return Result<void>{};
}

}  // namespace ff::valkey_store
