// Generators of submissions: mostly those of a sensible user.
#include "tests/property/generators.hpp"

namespace ff::property {
namespace {

using namespace std::chrono_literals;
namespace gen = rc::gen;

rc::Gen<RetryPolicy> retry_policy() {
  const auto fixed =
      gen::map(millis({0ms, 1s, 10min}), [](Millis delay) { return Backoff{FixedBackoff{delay}}; });
  const auto growing = gen::map(millis({0ms, 1s, 1min}), [](Millis initial) {
    return Backoff{ExponentialBackoff{.initial_delay = initial, .max_delay = 90s}};
  });
  return build<RetryPolicy>(
      gen::set(&RetryPolicy::max_retries, gen::inRange(0u, 3u)),
      gen::set(&RetryPolicy::backoff, gen::oneOf(fixed, growing)),
      gen::set(&RetryPolicy::retryable_categories,
               gen::weightedElement<std::vector<std::string>>({{3, {}}, {1, {"transient"}}})));
}

rc::Gen<Policy> policy() {
  return build<Policy>(
      gen::set(&Policy::retry, maybe(7, retry_policy())),
      gen::set(&Policy::attempt_timeout, maybe(3, millis({1ms, 5s, 1min, 1h}))),
      gen::set(&Policy::execution_deadline, maybe(2, millis({1ms, 30s, 10min, 24h}))),
      gen::set(&Policy::max_reclaim_count, gen::element(100u, 0u, 1u, 2u)),
      gen::set(&Policy::max_replay_count, gen::element(10u, 0u, 1u, 2u)),
      gen::set(&Policy::required_capabilities,
               gen::map(gen::weightedElement<unsigned>({{6, 0}, {2, 1}, {2, 2}, {1, 3}}),
                        capabilities_of)),
      gen::set(&Policy::dedup_window, millis({24h, 1ms, 5min})),
      gen::set(&Policy::retention, maybe(6, millis({1h, 0ms, 10s, 48h}))));
}

rc::Gen<Submission> submission() {
  return build<Submission>(
      gen::set(&Submission::ns, gen::weightedElement<unsigned>({{4, 0}, {1, 1}})),
      gen::set(&Submission::lane, below(lane_count)),
      gen::set(&Submission::priority, gen::element(0, 1, 10, 9000)),
      gen::set(&Submission::delay, maybe(2, millis({-1min, 0ms, 1s, 1min, 2h}))),
      gen::set(&Submission::deadline, maybe(2, millis({-1s, 0ms, 1s, 1min, 5h}))),
      gen::set(&Submission::key, maybe(3, below(4))), gen::set(&Submission::id, maybe(1, below(4))),
      gen::set(&Submission::tags, below(tag_count)), gen::set(&Submission::policy, policy()));
}

}  // namespace

// The size is fixed: an early one is as rich as a late one.
rc::Gen<Submission> submissions() { return gen::resize(100, submission()); }

rc::Gen<Operation> submit_one() {
  return as_operation(build<SubmitOne>(gen::set(&SubmitOne::submission, submission())));
}
rc::Gen<Operation> submit_batch() {
  return as_operation(build<SubmitBatch>(
      gen::set(&SubmitBatch::submissions,
               gen::nonEmpty(gen::resize(
                   5, gen::container<std::vector<Submission>>(gen::resize(100, submission())))))));
}
rc::Gen<Operation> submit_again() {
  return as_operation(build<SubmitAgain>(gen::set(&SubmitAgain::target, target(Among::all)),
                                         gen::set(&SubmitAgain::by_id, one_in(2)),
                                         gen::set(&SubmitAgain::other_content, one_in(4))));
}

}  // namespace ff::property
