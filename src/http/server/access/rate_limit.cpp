#include "http/server/access/rate_limit.hpp"

#include <algorithm>
#include <string_view>

#include "base/random.hpp"
#include "base/text/digest.hpp"

namespace ff::http {
namespace {

constexpr std::size_t buckets = 16'384;
constexpr std::size_t network_bytes = 8;  // of an IPv6 address

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  SystemRandom().fill({reinterpret_cast<std::uint8_t*>(&seed), sizeof seed});
  return seed;
}

template <std::size_t size>
std::string_view text_of(const std::array<unsigned char, size>& bytes, std::size_t count = size) {
  return {reinterpret_cast<const char*>(bytes.data()), count};
}

}  // namespace

RateLimit::RateLimit(Rate rate) : rate_(rate), seed_(random_seed()), used_until_(buckets) {}

std::size_t RateLimit::bucket_of(const boost::asio::ip::address& address) const {
  Digest digest;
  digest.add(static_cast<std::int64_t>(seed_));
  if (address.is_v4())
    digest.add(text_of(address.to_v4().to_bytes()));
  else if (address.to_v6().is_v4_mapped())
    digest.add(text_of(
        boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).to_bytes()));
  else
    digest.add(text_of(address.to_v6().to_bytes(), network_bytes));
  return digest.value() % buckets;
}

bool RateLimit::take(const boost::asio::ip::address& address, TimePoint now) {
  if (rate_.burst == 0) return false;
  const auto cost = TimePoint::duration(std::chrono::seconds{1}) / std::max(rate_.per_second, 1u);
  const std::lock_guard lock(mutex_);
  auto& used_until = used_until_[bucket_of(address)];
  const auto begin = std::max(used_until, now);
  if (begin - now > cost * (rate_.burst - 1)) return false;
  used_until = begin + cost;
  return true;
}

}  // namespace ff::http
