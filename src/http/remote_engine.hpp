// The engine of a server somewhere, over HTTP.
#pragma once

#include <flowfabric/engine.hpp>

#include <memory>
#include <string>
#include <string_view>

#include "base/runtime.hpp"

namespace ff::http {

class Client;

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

class RemoteEngine final : public ForwardEach<RemoteEngine, Engine, EngineOperations> {
 public:
  // `url` is http://HOST[:PORT]. Connects when it is first used.
  static Result<std::unique_ptr<RemoteEngine>> open(std::string_view url);
  ~RemoteEngine() override;

  asio::any_io_executor executor() override { return runtime_.executor(); }

  template <class Op>
  Async<typename Op::Reply> call(Op operation);

 private:
  RemoteEngine(std::string host, std::string port);

  Runtime runtime_;
  std::unique_ptr<Client> client_;
};

}  // namespace ff::http
