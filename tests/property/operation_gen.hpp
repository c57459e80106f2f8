// Random operations. Apart from the operations themselves: RapidCheck is costly to compile.
#pragma once

#include <vector>

#include <rapidcheck.h>

#include "tests/property/operation.hpp"

namespace ff::property {

rc::Gen<Submission> submissions();
rc::Gen<Operation> operation();
rc::Gen<std::vector<Operation>> operations();

}  // namespace ff::property
