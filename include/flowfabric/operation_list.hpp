// A list of operations as a type, so that code can be written once for all of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

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

namespace detail {

template <class... First, class... Second>
OperationList<First..., Second...> operator+(OperationList<First...>, OperationList<Second...>);

template <auto keep, class... Ops>
auto filtered(OperationList<Ops...>) -> decltype((
    OperationList<>{} + ... +
    std::conditional_t<keep.template operator()<Ops>(), OperationList<Ops>, OperationList<>>{}));

}  // namespace detail

template <class First, class Second>
using Joined = decltype(detail::operator+(First{}, Second{}));

// The operations for which `keep.operator()<Op>()` is true.
template <class List, auto keep>
using Filtered = decltype(detail::filtered<keep>(List{}));

}  // namespace ff
