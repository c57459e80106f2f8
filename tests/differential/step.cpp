#include "tests/differential/step.hpp"

#include <ostream>

#include <fmt/format.h>

#include "tests/property/generators.hpp"

namespace ff::differential {

namespace {

namespace gen = rc::gen;
using property::Among;
using property::FenceChoice;

std::string_view name_of(WaitVerb verb) {
  switch (verb) {
    case WaitVerb::suspend: return "suspend";
    case WaitVerb::create_waitpoint: return "create_waitpoint";
    case WaitVerb::close_waitpoint: return "close_waitpoint";
    case WaitVerb::send_signal: return "send_signal";
    case WaitVerb::resume: return "resume";
    case WaitVerb::put_step: return "put_step";
  }
  return "";
}

rc::Gen<Step> operation_step() {
  return gen::map(property::operation(),
                  [](property::Operation each) { return Step{std::move(each)}; });
}

rc::Gen<Step> timer_step() {
  return gen::map(gen::build<ToNextTimer>(gen::set(&ToNextTimer::offset_ms, gen::element(0, 1, -1)),
                                          gen::set(&ToNextTimer::scan, gen::arbitrary<bool>())),
                  [](ToNextTimer each) { return Step{each}; });
}

rc::Gen<Step> submit_step() {
  return gen::map(gen::inRange(0u, 6u), [](unsigned n) {
    return Step{property::Operation{property::SubmitOne{{.ns = n % 2, .lane = n % 3}}}};
  });
}

rc::Gen<Step> claim_step() {
  return gen::map(gen::inRange(0u, 50u), [](unsigned n) {
    return Step{property::Operation{
        property::ClaimSome{.wanted = {.worker = n % 3, .ns = n % 2, .lanes = 7, .capabilities = 3},
                            .max = 3,
                            .ttl = std::chrono::minutes{1}}}};
  });
}

rc::Gen<Step> wait_step() {
  const auto verb = gen::weightedElement<WaitVerb>({{6, WaitVerb::suspend},
                                                    {2, WaitVerb::create_waitpoint},
                                                    {1, WaitVerb::close_waitpoint},
                                                    {9, WaitVerb::send_signal},
                                                    {1, WaitVerb::resume},
                                                    {2, WaitVerb::put_step}});
  const auto fence = gen::weightedElement<FenceChoice>({{20, FenceChoice::newest},
                                                        {1, FenceChoice::earlier},
                                                        {1, FenceChoice::mixed},
                                                        {1, FenceChoice::invented}});
  return gen::map(
      gen::build<WaitStep>(
          gen::set(&WaitStep::verb, verb),
          gen::set(&WaitStep::target, property::target(Among::held)),
          gen::set(&WaitStep::fence, fence), gen::set(&WaitStep::what, gen::inRange(0u, 64u)),
          gen::set(&WaitStep::keys, gen::inRange(0u, 64u)),
          gen::set(&WaitStep::time, gen::inRange(0u, 64u)),
          gen::set(&WaitStep::repeat, gen::map(gen::inRange(0, 5), [](int n) { return n == 0; }))),
      [](WaitStep each) { return Step{each}; });
}

std::vector<Step> sequence(const rc::Gen<Step>& step, std::uint64_t seed) {
  const auto all = gen::resize(160, gen::container<std::vector<Step>>(gen::resize(100, step)));
  return all(rc::Random(seed), rc::kNominalSize).value();
}

}  // namespace

std::string show(const Step& step) {
  if (const auto* operation = std::get_if<property::Operation>(&step))
    return property::show(*operation);
  if (const auto* wait = std::get_if<WaitStep>(&step))
    return fmt::format("{} target {}/{} fence {} what {} keys {} time {}{}", name_of(wait->verb),
                       static_cast<int>(wait->target.among), wait->target.index,
                       static_cast<int>(wait->fence), wait->what, wait->keys, wait->time,
                       wait->repeat ? " twice" : "");
  const auto& timer = std::get<ToNextTimer>(step);
  return fmt::format("to_next_timer {:+}ms{}", timer.offset_ms, timer.scan ? " and scan" : "");
}

void showValue(const Step& step, std::ostream& out) { out << "\n  " << show(step); }

std::vector<Step> steps(std::uint64_t seed) {
  return sequence(gen::weightedOneOf<Step>({{12, operation_step()}, {1, timer_step()}}), seed);
}

std::vector<Step> steps_with_waits(std::uint64_t seed) {
  return sequence(gen::weightedOneOf<Step>({{5, operation_step()},
                                            {1, timer_step()},
                                            {3, submit_step()},
                                            {5, claim_step()},
                                            {16, wait_step()}}),
                  seed);
}

}  // namespace ff::differential
