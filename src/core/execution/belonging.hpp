// The records that belong to an execution beside its own. They are written with it and go with it; writing,
// removal and `ff check` all work from this list.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ff::core {

enum class Belonging : std::uint8_t {
  payload,
  result,
  attempt,         // one before the newest; many, by index
  waits,           // waitpoints and the newest suspension
  wait_details,    // their parts that signals do not change
  signal,          // many, by index
  signal_payload,  // likewise
  signal_key,      // a known signal; many, by idempotency key
  signal_id,       // which signal has an id; many, by it
  step,            // the kept result of a step; many, by name
  edge_in,         // of a node of a flow, from a node before it; many, by index
  edge_out,        // likewise, to a node after it; many, by that node and index
  streams,         // how far its streams are
  frames,          // of one append; many, by stream and number
  document,        // of a summary stream; many, by stream
};

inline constexpr std::array belongings{
    Belonging::payload,      Belonging::result,         Belonging::attempt,    Belonging::waits,
    Belonging::wait_details, Belonging::signal,         Belonging::signal_payload,
    Belonging::signal_key,   Belonging::signal_id,      Belonging::step,
    Belonging::edge_in,      Belonging::edge_out,       Belonging::streams,    Belonging::frames,
    Belonging::document};

// An execution has at most one of the others.
constexpr bool is_many(Belonging kind) {
  return kind != Belonging::payload && kind != Belonging::result && kind != Belonging::waits &&
         kind != Belonging::wait_details && kind != Belonging::streams;
}

}  // namespace ff::core
