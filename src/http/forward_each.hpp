// An engine whose operations all go the same way.
#pragma once

#include <flowfabric/engine.hpp>

namespace ff::http {

// Gives a class that has call(Op) a run(Op) for each of the operations.
template <class Derived, class Base, class Operations>
struct ForwardEach;
template <class Derived, class Base>
struct ForwardEach<Derived, Base, OperationList<>> : Base {
  using Base::run;
};
template <class Derived, class Base, class Op, class... Rest>
struct ForwardEach<Derived, Base, OperationList<Op, Rest...>>
    : ForwardEach<Derived, Base, OperationList<Rest...>> {
  using ForwardEach<Derived, Base, OperationList<Rest...>>::run;
  Async<typename Op::Reply> run(Op operation) override {
    return static_cast<Derived*>(this)->call(std::move(operation));
  }
};

}  // namespace ff::http
