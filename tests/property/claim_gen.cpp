// Claims and grants at random.
#include "tests/property/generators.hpp"

namespace ff::property {
namespace {

using namespace std::chrono_literals;
namespace gen = rc::gen;

rc::Gen<Wanted> wanted() {
  return build<Wanted>(gen::set(&Wanted::worker, below(worker_count)),
                       gen::set(&Wanted::ns, gen::weightedElement<unsigned>({{4, 0}, {1, 1}})),
                       gen::set(&Wanted::lanes, gen::inRange(1u, 1u << lane_count)),
                       gen::set(&Wanted::capabilities,
                                gen::weightedElement<unsigned>({{4, 3}, {2, 0}, {1, 1}, {1, 2}})));
}

rc::Gen<Millis> any_lease_ttl() { return millis({30s, 1ms, 5s, 10min, 24h}); }

}  // namespace

rc::Gen<Operation> claim_some() {
  return as_operation(build<ClaimSome>(gen::set(&ClaimSome::wanted, wanted()),
                                       gen::set(&ClaimSome::max, gen::inRange(1u, 5u)),
                                       gen::set(&ClaimSome::ttl, any_lease_ttl()),
                                       gen::set(&ClaimSome::request, maybe(4, below(2)))));
}
rc::Gen<Operation> grant_one() {
  return as_operation(build<GrantOne>(gen::set(&GrantOne::wanted, wanted()),
                                      gen::set(&GrantOne::ttl, millis({5s, 1ms, 1min}))));
}
rc::Gen<Operation> claim_granted_one() {
  return as_operation(
      build<ClaimGrantedOne>(gen::set(&ClaimGrantedOne::target, target(Among::granted)),
                             gen::set(&ClaimGrantedOne::other_worker, one_in(6)),
                             gen::set(&ClaimGrantedOne::lease, maybe(5, below(3))),
                             gen::set(&ClaimGrantedOne::ttl, any_lease_ttl())));
}
rc::Gen<Operation> claim_one() {
  return as_operation(build<ClaimOne>(
      gen::set(&ClaimOne::target, target(Among::waiting)),
      gen::set(&ClaimOne::worker, below(worker_count)),
      gen::set(&ClaimOne::capabilities,
               gen::weightedElement<unsigned>({{6, 3}, {1, 0}, {1, 1}, {1, 2}})),
      gen::set(&ClaimOne::lease, maybe(5, below(3))), gen::set(&ClaimOne::ttl, any_lease_ttl()),
      gen::set(&ClaimOne::again_by, maybe(3, below(worker_count)))));
}

}  // namespace ff::property
