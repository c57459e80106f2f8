#include "store/valkey/fleet/division.hpp"

#include <algorithm>

#include "base/text/hash.hpp"

namespace ff::valkey_store {
namespace {

// The finaliser of SplitMix64: every bit of the input changes about half of the output.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// The process with the highest weight is the first.
std::uint64_t weight(std::uint64_t process, std::uint64_t what) { return mixed(process ^ what); }

std::uint64_t hash_of(std::string_view text) { return mixed(fnv1a(text)); }

// Ids are time-ordered, so neighbours differ in few bits.
std::uint64_t hash_of(const ExecutionId& id) {
  std::uint64_t halves[2]{};
  const auto& bytes = id.uuid().bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    halves[i / 8] = halves[i / 8] << 8 | static_cast<std::uint8_t>(bytes[i]);
  return mixed(mixed(halves[0]) ^ halves[1]);
}

}  // namespace

Division::Division(std::string_view self, const std::vector<Member>& members)
    : self_(hash_of(self)), sweeps_(false), claims_(false) {
  for (const auto& [process, sweeps, claims] : members) {
    const auto hash = hash_of(process);
    if (sweeps) sweepers_.push_back(hash);
    if (claims) claimers_.push_back(hash);
    if (hash != self_) continue;
    sweeps_ = sweeps;
    claims_ = claims;
  }
  std::ranges::sort(sweepers_);
  std::ranges::sort(claimers_);
}

bool Division::sweeps(std::string_view tag) const {
  if (!sweeps_) return true;
  const auto what = hash_of(tag);
  const auto own = weight(self_, what);
  return std::ranges::none_of(sweepers_,
                              [&](std::uint64_t process) { return weight(process, what) > own; });
}

std::size_t Division::rank(const ExecutionId& id, std::string_view maker) const {
  if (claimers_.empty()) return 0;
  const auto maker_hash = maker.empty() ? 0 : hash_of(maker);
  if (claims_ && maker_hash == self_) return 0;
  const auto what = hash_of(id);
  const auto own = weight(self_, what);
  return static_cast<std::size_t>(std::ranges::count_if(claimers_, [&](std::uint64_t process) {
    if (process == self_) return false;
    return !claims_ || process == maker_hash || weight(process, what) > own;
  }));
}

}  // namespace ff::valkey_store
