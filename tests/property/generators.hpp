// Building blocks of the generators of operations.
#pragma once

#include "tests/property/operation_gen.hpp"

namespace ff::property {

// Values are built field by field, so that each shrinks by itself.
template <class T, class... Bindings>
rc::Gen<T> build(const Bindings&... bindings) {
  return rc::gen::build<T>(bindings...);
}

inline rc::Gen<unsigned> below(unsigned end) { return rc::gen::inRange(0u, end); }

template <class T>
rc::Gen<std::optional<T>> maybe(std::size_t of_ten, rc::Gen<T> some) {
  return rc::gen::weightedOneOf<std::optional<T>>(
      {{10 - of_ten, rc::gen::just(std::optional<T>{})},
       {of_ten, rc::gen::map(std::move(some),
                             [](T value) { return std::optional<T>{std::move(value)}; })}});
}

inline rc::Gen<bool> one_in(std::size_t n) {
  return rc::gen::weightedElement<bool>({{n - 1, false}, {1, true}});
}

inline rc::Gen<Millis> millis(std::vector<Millis> choices) {
  return rc::gen::elementOf(std::move(choices));
}

// An execution of that sort, in most cases.
rc::Gen<Target> target(Among mostly);

template <class T>
rc::Gen<Operation> as_operation(rc::Gen<T> some) {
  return rc::gen::map(std::move(some), [](T value) { return Operation{std::move(value)}; });
}

// Submitting (submission_gen.cpp)
rc::Gen<Operation> submit_one();
rc::Gen<Operation> submit_batch();
rc::Gen<Operation> submit_again();

// Claiming (claim_gen.cpp)
rc::Gen<Operation> claim_some();
rc::Gen<Operation> grant_one();
rc::Gen<Operation> claim_granted_one();
rc::Gen<Operation> claim_one();

}  // namespace ff::property
