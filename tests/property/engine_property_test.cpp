// Random sequences of operations against an engine on the embedded store, in simulated time.
#include "tests/property/check.hpp"
#include "tests/property/invariants.hpp"
#include "tests/property/operation_gen.hpp"

namespace ff::property {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t check_all_every = 12;  // operations

bool may_replay(const Operation& operation) { return std::holds_alternative<ReplayOne>(operation); }

rc::Gen<Setup> setups() {
  namespace gen = rc::gen;
  return gen::build<Setup>(
      gen::set(&Setup::shards, gen::resize(100, gen::inRange<std::size_t>(1, 4))),
      gen::set(&Setup::hot_bytes_max, gen::element<std::size_t>(64 << 20, 0)),
      gen::set(&Setup::durability,
               gen::weightedElement<store::Durability>({{6, store::Durability::relaxed},
                                                        {1, store::Durability::standard},
                                                        {1, store::Durability::strict}})));
}

void try_sequence(const Setup& setup, const std::vector<Operation>& operations) {
  World world(setup);
  Driver driver(world);
  Invariants invariants(driver);
  bool replayed = false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    driver.carry_out(operations[i]);
    replayed |= may_replay(operations[i]);
    invariants.check_touched(may_replay(operations[i]));
    if ((i + 1) % check_all_every != 0) continue;
    invariants.check_all(std::exchange(replayed, false));
  }
  invariants.check_all(replayed);
  invariants.check_indexes();
  invariants.check_directory();
  driver.drain();
  invariants.check_all(false);
  invariants.check_indexes();
}

TEST(EngineProperty, DoesWhatTheModelDoes) {
  check(25, rc::gen::pair(setups(), operations()),
        [](const auto& run) { try_sequence(run.first, run.second); });
}

// ---- Short sequences that failed once

TEST(EngineProperty, RepeatedClaimGivesNoNewLease) {
  const ClaimSome claim{
      .wanted = {.lanes = 1, .capabilities = 3}, .max = 1, .ttl = 1ms, .request = 0};
  auto elsewhere = claim;
  elsewhere.wanted.ns = 1;
  try_sequence({}, {SubmitOne{}, claim, Advance{1s}, Scan{}, elsewhere, claim});
}

}  // namespace

void showValue(const Setup& setup, std::ostream& out) {
  out << "shards=" << setup.shards << " hot_bytes_max=" << setup.hot_bytes_max
      << " durability=" << to_string(setup.durability);
}

}  // namespace ff::property
