// std::visit with one lambda per alternative.
#pragma once

namespace ff {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

}  // namespace ff
