#include "core/suspensions/suspension_id.hpp"

#include "base/overloaded.hpp"
#include "base/text/digest.hpp"

namespace ff::core {
namespace {

// Adds a call to a digest, part by part. What may be absent has its number before it.
class CallDigest {
 public:
  explicit CallDigest(std::int64_t seed) { digest_.add(seed); }

  std::uint64_t of(const Suspend& call) {
    digest_.add(call.fence.lease_id.str())
        .add(static_cast<std::int64_t>(call.fence.lease_epoch))
        .add(static_cast<std::int64_t>(call.reason))
        .add(static_cast<std::int64_t>(call.on_timeout))
        .add(call.timeout ? call.timeout->count() : std::int64_t{-1})
        .add(call.resume_delay.count())
        .add(call.state);
    for (const auto& waitpoint : call.waitpoints) digest_.add(waitpoint.key.str());
    add(call.condition);
    return digest_.value();
  }

 private:
  template <class Name>
  void add(const std::optional<Name>& name) {
    digest_.add(std::int64_t{name.has_value()});
    if (name) digest_.add(name->str());
  }
  void add(const std::vector<Condition>& parts) {
    digest_.add(static_cast<std::int64_t>(parts.size()));
    for (const auto& part : parts) add(part);
  }
  void add(const Condition& condition) {
    digest_.add(static_cast<std::int64_t>(condition.is.index()));
    std::visit(Overloaded{
                   [this](const OneSignal& one) {
                     add(one.name);
                     add(one.waitpoint);
                   },
                   [this](const AllOf& all) { add(all.of); },
                   [this](const AnyOf& any) { add(any.of); },
                   [this](const CountOf& many) {
                     digest_.add(std::int64_t{many.n}).add(static_cast<std::int64_t>(many.of));
                     add(many.name);
                     for (const auto& key : many.waitpoints) digest_.add(key.str());
                   },
                   [](const OperatorOnly&) {},
                   [](const TimeoutOnly&) {},
               },
               condition.is);
  }

  Digest digest_;
};

}  // namespace

SuspensionId suspension_id_of(const Suspend& command) {
  return SuspensionId{make_uuid(CallDigest(0).of(command), CallDigest(1).of(command))};
}

}  // namespace ff::core
