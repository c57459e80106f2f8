// FF_ASSERT states what must hold if our own code is right; on in every build.
#pragma once

namespace ff {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace ff

#define FF_ASSERT(condition) \
  (static_cast<bool>(condition) ? void() : ::ff::assertion_failed(#condition, __FILE__, __LINE__))
