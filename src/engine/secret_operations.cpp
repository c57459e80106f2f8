// An engine's operations on the secrets that sign waitpoint tokens.
#include "base/log.hpp"
#include "base/try.hpp"
#include "engine/local_engine.hpp"

namespace ff {
namespace {

// Lets the next rotation begin, however this one ends.
struct RotationEnd {
  std::atomic<bool>& is_rotating;
  ~RotationEnd() { is_rotating = false; }
};

}  // namespace

Async<RotateSecretReply> LocalEngine::handle(RotateWaitpointSecret operation) {
  if (is_rotating_.exchange(true))
    co_return fail(Errc::rotation_in_progress,
                   "another rotation of the waitpoint secret is running on this server; try again "
                   "when it has ended");
  const RotationEnd end{is_rotating_};
  core::RotateKeyRing command{{.kid = operation.new_kid,
                               .secret = std::move(operation.new_secret),
                               .grace = options_.waitpoint_secret_grace}};
  auto reply = co_await store_->run(std::move(command));
  waitpoint_keys_.forget();
  if (reply)
    log::info(
        "audit waitpoint_hmac_rotation_complete new_kid={} total_partitions={} rotated={} "
        "failed_count={} in_progress_count={}",
        reply->new_kid.str(), reply->rotated + reply->failed.size(), reply->rotated,
        reply->failed.size(), reply->in_progress.size());
  else
    log::warn("audit waitpoint_hmac_rotation_failed new_kid={} error={}", operation.new_kid.str(),
              reply.error().message);
  co_return reply;
}

Async<WaitpointKeyList> LocalEngine::handle(ListWaitpointKeys) {
  const auto ring = co_await store_->run(core::ReadKeyRing{});
  FF_CO_TRY(ring);
  co_return core::list_keys(*ring, store_->now());
}

}  // namespace ff
