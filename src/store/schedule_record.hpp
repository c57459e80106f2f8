// A schedule as the bytes that both stores keep of it.
#pragma once

#include <string>
#include <string_view>

#include "core/schedules/schedule.hpp"

namespace ff::store {

std::string encode(const core::Schedule& schedule);

// Fails with store_damaged.
Result<core::Schedule> decode_schedule(std::string_view bytes);

// What the spec starts fits into a record.
Result<void> fits_record(const ScheduleSpec& spec);

// Specs with the same bytes are equal.
std::string encode(const ScheduleSpec& spec);

}  // namespace ff::store
