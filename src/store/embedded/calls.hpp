// Calls to one of the store's threads.
#pragma once

#include <variant>

#include "store/store.hpp"

namespace ff::embedded {

template <class... Ops>
using Calls = std::variant<store::Call<Ops>...>;

}  // namespace ff::embedded
