// Operations of a random sequence: small structs of small numbers, so that a failing sequence shrinks
// to a short one. Executions are named by their place among those that exist when the operation runs.
#pragma once

#include <flowfabric/operations.hpp>

#include <iosfwd>
#include <string>
#include <variant>
#include <vector>

namespace ff::property {

enum class Among : std::uint8_t { held, granted, waiting, ended, all, unknown, out_of_range };
struct Target {
  Among among{};
  unsigned index = 0;  // modulo how many there are; all of them if there are none of that sort
};

// Which proof a worker shows.
enum class FenceChoice : std::uint8_t {
  newest,   // of the execution's newest lease, whether it holds or not
  earlier,  // of a lease before that
  foreign,  // of another execution
  mixed,    // the newest with one part wrong
  invented,
};

struct Submission {
  unsigned ns = 0;
  unsigned lane = 0;
  std::int32_t priority = 0;
  std::optional<Millis> delay = {};     // from now; may be in the past
  std::optional<Millis> deadline = {};  // likewise
  std::optional<unsigned> key = {};
  std::optional<unsigned> id = {};
  unsigned tags = 0;
  Policy policy = {};
};

struct SubmitOne {
  Submission submission;
};
struct SubmitBatch {
  std::vector<Submission> submissions;
};
struct SubmitAgain {  // the same content under the same key or id
  Target target;
  bool by_id = false;
  bool other_content = false;
};

struct Wanted {
  unsigned worker = 0;
  unsigned ns = 0;
  unsigned lanes = 0;         // a bit each
  unsigned capabilities = 0;  // likewise
};
struct ClaimSome {
  Wanted wanted;
  unsigned max = 1;
  Millis ttl{};
  std::optional<unsigned> request = {};
};
struct GrantOne {
  Wanted wanted;
  Millis ttl{};
};
struct ClaimGrantedOne {
  Target target;
  bool other_worker = false;
  std::optional<unsigned> lease = {};
  Millis ttl{};
};
struct ClaimOne {
  Target target;
  unsigned worker = 0;
  unsigned capabilities = 0;
  std::optional<unsigned> lease = {};
  Millis ttl{};
  std::optional<unsigned> again_by = {};  // the worker that makes the same call a second time
};

enum class Verb : std::uint8_t {
  renew,
  progress,
  complete,
  fail,
  delay,
  wait_for_children,
  hand_back,
  cancel,
};
struct ByWorker {
  Verb verb{};
  Target target;
  FenceChoice fence{};
  Millis time{};          // of a renewal or a delay
  unsigned category = 0;  // of a failure
  bool repeat = false;    // the call is made twice, as if its reply was lost
};
struct CompleteBatch {
  std::vector<Target> targets;
  FenceChoice fence{};
};

struct CancelOne {
  Target target;
};
struct RevokeOne {
  Target target;
  std::optional<FenceChoice> lease = {};
};
struct Prioritise {
  Target target;
  std::int32_t priority = 0;
};
struct Tag {
  Target target;
  unsigned key = 0;
  unsigned value = 0;
  bool remove = false;
};
struct ReplayOne {
  Target target;
};

struct Advance {
  Millis by{};
};
struct Scan {};  // every scanner, until nothing is due
struct Restart {
  std::size_t shards = 1;
};

using Operation = std::variant<SubmitOne, SubmitBatch, SubmitAgain, ClaimSome, GrantOne,
                               ClaimGrantedOne, ClaimOne, ByWorker, CompleteBatch, CancelOne,
                               RevokeOne, Prioritise, Tag, ReplayOne, Advance, Scan, Restart>;

std::string show(const Operation& operation);
void showValue(const Operation& operation, std::ostream& out);

void showValue(const Submission& submission, std::ostream& out);

// ---- The meaning of the small numbers ---------------------------------------------------------------

inline constexpr unsigned namespace_count = 2;
inline constexpr unsigned lane_count = 3;
inline constexpr unsigned worker_count = 3;
inline constexpr unsigned capability_sets = 4;
inline constexpr unsigned tag_count = 3;

Namespace namespace_of(unsigned n);
LaneId lane_of(unsigned n);
std::vector<LaneId> lanes_of(unsigned bits);  // at least one
WorkerId worker_of(unsigned n);
CapabilitySet capabilities_of(unsigned bits);
std::string category_of(unsigned n);
std::string tag_key(unsigned n);
std::string tag_value(unsigned n);
Uuid uuid_of(std::uint64_t sort, unsigned n);  // the same for the same numbers

}  // namespace ff::property
