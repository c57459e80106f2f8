// A quota: how many may start in any window of time, and how many may run at once.
#pragma once

#include <map>
#include <set>

#include "core/quotas/commands.hpp"

namespace ff::core {

// A start that counts in a quota's window.
struct WindowEntry {
  TimePoint at;
  QuotaTokenId token;
  auto operator<=>(const WindowEntry&) const = default;
};

// The starts of the last window, by time and by token.
class Window {
 public:
  void add(const WindowEntry& place);
  bool remove(const QuotaTokenId& token);  // false: it has no place
  std::optional<TimePoint> find(const QuotaTokenId& token) const;
  const std::set<WindowEntry>& places() const { return places_; }

  // Removes those that are not after `time`, and tells which.
  std::vector<WindowEntry> forget_through(TimePoint time);

 private:
  std::set<WindowEntry> places_;
  std::map<QuotaTokenId, TimePoint> by_token_;
};

struct Quota {
  struct Holder {  // of a slot
    ExecutionId execution;
    TimePoint admitted_at;
  };

  QuotaId id;
  Namespace ns;
  QuotaSpec spec;
  TimePoint created_at;
  Window window = {};                           // used if the starts per window are limited
  std::map<QuotaTokenId, Holder> holders = {};  // used if those that run at once are limited
};

// `command` has an id.
Quota make_quota(const CreateQuota& command, TimePoint now);
Quota make_quota(const KeepQuota& command, TimePoint now);
QuotaInfo info_of(const Quota& quota, TimePoint now);

// Places in the window that no longer count. An entry exactly one window old is past.
std::vector<WindowEntry> forget_past(Quota& quota, TimePoint now);

// Lets one in, or says why not. Of a token that is in already the answer is that of the first time.
AdmitReply admit(Quota& quota, const Admit& command, TimePoint now);

// How much later than there is room a refused one may come again: spreads those that were refused together.
// The same token gets the same answer.
Millis jitter_of(const QuotaSpec& spec, const QuotaTokenId& token);

struct Release {
  bool slot = false;                      // it held one
  std::optional<WindowEntry> place = {};  // that it gave back
  bool freed() const { return slot || place; }
};
Release release(Quota& quota, const ReleaseToken& command);

// Tokens that have held a slot since before a time.
std::vector<HeldToken> held(const Quota& quota, const HeldTokens& query);

}  // namespace ff::core
