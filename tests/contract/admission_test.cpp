#include "tests/contract/fixture.hpp"
