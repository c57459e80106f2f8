// How often each operation comes, and with what numbers: mostly what a sensible user does.
#include "tests/property/generators.hpp"

namespace ff::property {
namespace {

using namespace std::chrono_literals;
namespace gen = rc::gen;

rc::Gen<FenceChoice> fence_choice() {
  return gen::weightedElement<FenceChoice>({{20, FenceChoice::newest},
                                            {4, FenceChoice::earlier},
                                            {1, FenceChoice::foreign},
                                            {2, FenceChoice::mixed},
                                            {1, FenceChoice::invented}});
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
rc::Gen<Advance> advance() {
  return build<Advance>(
      gen::set(&Advance::by, gen::weightedOneOf<Millis>({{3, millis({1ms, 2ms, 999ms})},
                                                         {5, millis({1s, 5s, 31s})},
                                                         {3, millis({1min, 10min})},
                                                         {1, millis({2h, 25h, 72h})}})));
}

}  // namespace

rc::Gen<Target> target(Among mostly) {
  return build<Target>(
      gen::set(&Target::among,
               gen::weightedElement<Among>(
                   {{28, mostly}, {6, Among::all}, {2, Among::unknown}, {1, Among::out_of_range}})),
      gen::set(&Target::index, below(50)));
}

rc::Gen<Operation> operation() {
  const auto on = [](auto member, Among mostly) { return gen::set(member, target(mostly)); };
  return gen::weightedOneOf<Operation>({
      {14, submit_one()},
      {5, submit_batch()},
      {3, submit_again()},
      {22, claim_some()},
      {4, grant_one()},
      {4, claim_granted_one()},
      {5, claim_one()},
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
rc::Gen<std::vector<Operation>> operations() {
  return gen::resize(120, gen::container<std::vector<Operation>>(gen::resize(100, operation())));
}

}  // namespace ff::property
