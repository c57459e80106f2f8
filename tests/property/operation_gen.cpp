// How often each operation comes, and with what numbers: mostly what a sensible user does.
#include "tests/property/operation.hpp"

namespace ff::property {
namespace {

using namespace std::chrono_literals;
namespace gen = rc::gen;

// Values are built field by field, so that each shrinks by itself.
template <class T, class... Bindings>
rc::Gen<T> build(const Bindings&... bindings) {
  return gen::build<T>(bindings...);
}

rc::Gen<unsigned> below(unsigned end) { return gen::inRange(0u, end); }

template <class T>
rc::Gen<std::optional<T>> maybe(std::size_t of_ten, rc::Gen<T> some) {
  return gen::weightedOneOf<std::optional<T>>({{10 - of_ten, gen::just(std::optional<T>{})},
                                               {of_ten, gen::map(std::move(some), [](T value) {
                                                  return std::optional<T>{std::move(value)};
                                                })}});
}

rc::Gen<bool> one_in(std::size_t n) {
  return gen::weightedElement<bool>({{n - 1, false}, {1, true}});
}

rc::Gen<Millis> millis(std::vector<Millis> choices) { return gen::elementOf(std::move(choices)); }

rc::Gen<Target> target(Among mostly) {
  return build<Target>(
      gen::set(&Target::among,
               gen::weightedElement<Among>(
                   {{28, mostly}, {6, Among::all}, {2, Among::unknown}, {1, Among::out_of_range}})),
      gen::set(&Target::index, below(50)));
}

rc::Gen<FenceChoice> fence_choice() {
  return gen::weightedElement<FenceChoice>({{20, FenceChoice::newest},
                                            {4, FenceChoice::earlier},
                                            {1, FenceChoice::foreign},
                                            {2, FenceChoice::mixed},
                                            {1, FenceChoice::invented}});
}

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

rc::Gen<Wanted> wanted() {
  return build<Wanted>(gen::set(&Wanted::worker, below(worker_count)),
                       gen::set(&Wanted::ns, gen::weightedElement<unsigned>({{4, 0}, {1, 1}})),
                       gen::set(&Wanted::lanes, gen::inRange(1u, 1u << lane_count)),
                       gen::set(&Wanted::capabilities,
                                gen::weightedElement<unsigned>({{4, 3}, {2, 0}, {1, 1}, {1, 2}})));
}

rc::Gen<Millis> any_lease_ttl() { return millis({30s, 1ms, 5s, 10min, 24h}); }

rc::Gen<ClaimSome> claim_some() {
  return build<ClaimSome>(gen::set(&ClaimSome::wanted, wanted()),
                          gen::set(&ClaimSome::max, gen::inRange(1u, 5u)),
                          gen::set(&ClaimSome::ttl, any_lease_ttl()),
                          gen::set(&ClaimSome::request, maybe(4, below(2))));
}
rc::Gen<GrantOne> grant_one() {
  return build<GrantOne>(gen::set(&GrantOne::wanted, wanted()),
                         gen::set(&GrantOne::ttl, millis({5s, 1ms, 1min})));
}
rc::Gen<ClaimGrantedOne> claim_granted_one() {
  return build<ClaimGrantedOne>(gen::set(&ClaimGrantedOne::target, target(Among::granted)),
                                gen::set(&ClaimGrantedOne::other_worker, one_in(6)),
                                gen::set(&ClaimGrantedOne::lease, maybe(5, below(3))),
                                gen::set(&ClaimGrantedOne::ttl, any_lease_ttl()));
}
rc::Gen<ClaimOne> claim_one() {
  return build<ClaimOne>(gen::set(&ClaimOne::target, target(Among::waiting)),
                         gen::set(&ClaimOne::worker, below(worker_count)),
                         gen::set(&ClaimOne::capabilities,
                                  gen::weightedElement<unsigned>({{6, 3}, {1, 0}, {1, 1}, {1, 2}})),
                         gen::set(&ClaimOne::lease, maybe(5, below(3))),
                         gen::set(&ClaimOne::ttl, any_lease_ttl()),
                         gen::set(&ClaimOne::again_by, maybe(3, below(worker_count))));
}

rc::Gen<ByWorker> by_worker() {
  return build<ByWorker>(
      gen::set(&ByWorker::verb, gen::weightedElement<Verb>({{4, Verb::complete},
                                                            {6, Verb::fail},
                                                            {3, Verb::renew},
                                                            {2, Verb::progress},
                                                            {4, Verb::delay},
                                                            {2, Verb::wait_for_children},
                                                            {2, Verb::hand_back},
                                                            {1, Verb::cancel}})),
      gen::set(&ByWorker::target, target(Among::held)), gen::set(&ByWorker::fence, fence_choice()),
      gen::set(&ByWorker::time, millis({30s, 1ms, 5s, 10min, 24h})),
      gen::set(&ByWorker::category, below(5)), gen::set(&ByWorker::repeat, one_in(5)));
}
rc::Gen<CompleteBatch> complete_batch() {
  return build<CompleteBatch>(
      gen::set(&CompleteBatch::targets,
               gen::nonEmpty(gen::resize(
                   4, gen::container<std::vector<Target>>(gen::resize(100, target(Among::held)))))),
      gen::set(&CompleteBatch::fence, fence_choice()));
}
rc::Gen<SubmitBatch> submit_batch() {
  return build<SubmitBatch>(
      gen::set(&SubmitBatch::submissions,
               gen::nonEmpty(gen::resize(
                   5, gen::container<std::vector<Submission>>(gen::resize(100, submission()))))));
}
rc::Gen<SubmitAgain> submit_again() {
  return build<SubmitAgain>(gen::set(&SubmitAgain::target, target(Among::all)),
                            gen::set(&SubmitAgain::by_id, one_in(2)),
                            gen::set(&SubmitAgain::other_content, one_in(4)));
}

rc::Gen<Advance> advance() {
  return build<Advance>(
      gen::set(&Advance::by, gen::weightedOneOf<Millis>({{3, millis({1ms, 2ms, 999ms})},
                                                         {5, millis({1s, 5s, 31s})},
                                                         {3, millis({1min, 10min})},
                                                         {1, millis({2h, 25h, 72h})}})));
}

template <class T>
rc::Gen<Operation> as_operation(rc::Gen<T> some) {
  return gen::map(std::move(some), [](T value) { return Operation{std::move(value)}; });
}

}  // namespace

rc::Gen<Operation> operation() {
  const auto on = [](auto member, Among mostly) { return gen::set(member, target(mostly)); };
  return gen::weightedOneOf<Operation>({
      {14, as_operation(build<SubmitOne>(gen::set(&SubmitOne::submission, submission())))},
      {5, as_operation(submit_batch())},
      {3, as_operation(submit_again())},
      {22, as_operation(claim_some())},
      {4, as_operation(grant_one())},
      {4, as_operation(claim_granted_one())},
      {5, as_operation(claim_one())},
      {22, as_operation(by_worker())},
      {3, as_operation(complete_batch())},
      {2, as_operation(build<CancelOne>(on(&CancelOne::target, Among::all)))},
      {3, as_operation(build<RevokeOne>(on(&RevokeOne::target, Among::held),
                                        gen::set(&RevokeOne::lease, maybe(4, fence_choice()))))},
      {3, as_operation(build<Prioritise>(
              on(&Prioritise::target, Among::waiting),
              gen::set(&Prioritise::priority, gen::element(0, 1, 10, 9000, 9001))))},
      {3, as_operation(
              build<Tag>(on(&Tag::target, Among::all), gen::set(&Tag::key, below(tag_count)),
                         gen::set(&Tag::value, below(2)), gen::set(&Tag::remove, one_in(3))))},
      {6, as_operation(build<ReplayOne>(on(&ReplayOne::target, Among::ended)))},
      {9, as_operation(advance())},
      {9, gen::just(Operation{Scan{}})},
      {2,
       as_operation(build<Restart>(gen::set(&Restart::shards, gen::inRange<std::size_t>(1, 4))))},
  });
}

// The size is fixed: an early sequence is as rich as a late one.
rc::Gen<Submission> submissions() { return gen::resize(100, submission()); }

rc::Gen<std::vector<Operation>> operations() {
  return gen::resize(120, gen::container<std::vector<Operation>>(gen::resize(100, operation())));
}

}  // namespace ff::property
