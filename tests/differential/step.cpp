#include "tests/differential/step.hpp"

#include <ostream>

#include <fmt/format.h>

#include "tests/property/operation_gen.hpp"

namespace ff::differential {

std::string show(const Step& step) {
  if (const auto* operation = std::get_if<property::Operation>(&step))
    return property::show(*operation);
  const auto& timer = std::get<ToNextTimer>(step);
  return fmt::format("to_next_timer {:+}ms{}", timer.offset_ms, timer.scan ? " and scan" : "");
}

void showValue(const Step& step, std::ostream& out) { out << "\n  " << show(step); }

std::vector<Step> steps(std::uint64_t seed) {
  namespace gen = rc::gen;
  const auto operation = gen::map(property::operation(),
                                  [](property::Operation each) { return Step{std::move(each)}; });
  const auto timer =
      gen::map(gen::build<ToNextTimer>(gen::set(&ToNextTimer::offset_ms, gen::element(0, 1, -1)),
                                       gen::set(&ToNextTimer::scan, gen::arbitrary<bool>())),
               [](ToNextTimer each) { return Step{each}; });
  const auto step = gen::weightedOneOf<Step>({{12, operation}, {1, timer}});
  const auto sequence = gen::resize(160, gen::container<std::vector<Step>>(gen::resize(100, step)));
  return sequence(rc::Random(seed), rc::kNominalSize).value();
}

}  // namespace ff::differential
