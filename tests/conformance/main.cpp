#include "tests/conformance/conformance.hpp"

namespace ff::conformance {

INSTANTIATE_TEST_SUITE_P(Everywhere, Conformance, ::testing::ValuesIn(home_kinds()),
                         [](const auto& test) { return test.param.name; });

}  // namespace ff::conformance
