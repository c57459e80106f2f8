// Calls: an operation together with the receiver of its reply.
#pragma once

#include <flowfabric/error.hpp>
#include <flowfabric/operation_list.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace ff::store {

// `done` is called exactly once, from any thread; it must not block.
template <class Op>
struct Call {
  using Operation = Op;
  Op operation;
  std::move_only_function<void(Result<typename Op::Reply>)> done;
};

// A call of any operation in a list. Only code that visits it compiles anything per operation.
template <class Operations>
class AnyCallOf {
 public:
  template <ListedIn<Operations> Op>
  AnyCallOf(Call<Op> call)  // NOLINT(google-explicit-constructor): a call is one of any kind
      : index_(index_of<Operations, Op>), call_(new Call<Op>(std::move(call)), [](void* made) {
          delete static_cast<Call<Op>*>(made);
        }) {}

  // The operation's position in the list.
  std::size_t index() const { return index_; }

  // Calls `receive` with the Call<Op>& that this is.
  template <class Receive>
  void visit(Receive&& receive) {
    visit_as(Operations{}, receive);
  }

 private:
  template <class... Ops, class Receive>
  void visit_as(OperationList<Ops...>, Receive& receive) {
    using Entry = void (*)(void*, Receive&);
    static constexpr Entry entries[] = {
        [](void* call, Receive& to) { to(*static_cast<Call<Ops>*>(call)); }...};
    entries[index_](call_.get(), receive);
  }

  std::size_t index_;
  std::unique_ptr<void, void (*)(void*)> call_;
};

}  // namespace ff::store
