// A digest to recognise content by. Not for secrets: anyone can make two contents with one digest.
#pragma once

#include <flowfabric/ids.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

struct XXH3_state_s;

namespace ff {

// Digests are stored, so what is added, and in which order, must stay as it is.
class Digest {
 public:
  Digest();
  ~Digest();

  // Each is added with its length, so that "a","bc" and "ab","c" differ.
  Digest& add(std::string_view bytes);
  Digest& add(std::int64_t number);
  std::uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// A UUID of version 8 (custom) that two digests make up.
Uuid make_uuid(std::uint64_t first, std::uint64_t second);

}  // namespace ff
