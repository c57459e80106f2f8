// A list of operations as a type, so that code can be written once for all of them.
#pragma once

#include <concepts>
#include <cstddef>

namespace ff {

template <class... Ops>
struct OperationList {};

namespace detail {

template <class Op, class... Ops>
consteval std::size_t position(OperationList<Ops...>) {
  std::size_t at = 0;
  static_cast<void>(((std::same_as<Op, Ops> ? false : (++at, true)) && ...));
  return at;
}
template <class... Ops>
consteval std::size_t length(OperationList<Ops...>) {
  return sizeof...(Ops);
}

}  // namespace detail

template <class Op, class List>
concept ListedIn = detail::position<Op>(List{})
< detail::length(List{});

// The operation's position in the list.
template <class List, ListedIn<List> Op>
inline constexpr std::size_t index_of = detail::position<Op>(List{});

}  // namespace ff
