// The straight way of plain cases (lib/plain.lua) against the general one: the same random calls into the library with
// and without it. Every reply and everything stored must be the same.
#include <flowfabric/ids.hpp>

#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include "tests/contract/fixture.hpp"
#include "tests/support/paths.hpp"

namespace ff::test {
namespace {

std::string library() {
  std::ifstream file(function_library_path());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string library_without_plain_cases() {
  const std::string_view on = "local is_on = true";
  auto text = library();
  const auto at = text.find(on);
  if (at == std::string::npos) throw std::runtime_error("lib/plain.lua has no switch");
  return text.replace(at, on.size(), "local is_on = false");
}

class RandomCalls {
 public:
  explicit RandomCalls(unsigned seed) : random_(seed) {}

  // A worker's view of its lease.
  void learn(const Texts& reply) {
    constexpr std::size_t lease = 11;
    if (is_lease_ && reply.size() > lease + 2 && reply[1] == "OK")
      fences_[number_] = {reply[lease], reply[lease + 1], reply[lease + 2]};
  }

  Call next() {
    now_ += upto(40) == 0 ? 40'000 : upto(5);
    const auto number = number_ = upto(solo_count + node_count);
    is_lease_ = false;
    switch (upto(13)) {
      case 0:
      case 1:
      case 2: return number < solo_count ? submit(number) : submit_flow();
      case 3:
      case 4:
      case 5: return lease(number);
      case 6:
      case 7:
      case 8: return complete(number);
      case 9: return of(number, "ff_renew", fenced(number, {"30000"}));
      case 10: return ended_otherwise(number);
      case 11: return paused_or_resumed();
      default: return edited(number);
    }
  }

 private:
  static constexpr unsigned solo_count = 5;
  static constexpr unsigned node_count = 3;  // a chain

  unsigned upto(unsigned count) { return static_cast<unsigned>(random_() % count); }
  std::string one_of(const Texts& texts) {
    return texts[upto(static_cast<unsigned>(texts.size()))];
  }
  std::string rarely(const std::string& text) { return upto(4) == 0 ? text : ""; }
  std::string now() const { return std::to_string(now_); }

  Call of(unsigned number, const std::string& function, Texts arguments) const {
    return {function, {exec_key("core", numbered(static_cast<int>(number)))}, std::move(arguments)};
  }

  Texts fenced(unsigned number, Texts more) {
    Texts arguments{now(), "me"};
    auto fence = fences_[number];
    if (fence.empty() || upto(10) == 0) fence = {"L0", "1", "A0"};
    std::ranges::move(fence, std::back_inserter(arguments));
    std::ranges::move(more, std::back_inserter(arguments));
    return arguments;
  }

  Call submit(unsigned number) {
    Texts arguments{now(),
                    "me",
                    one_of({"default", "default", "other"}),
                    one_of({"main", "side"}),
                    "work",
                    one_of({"0", "0", "7"}),
                    one_of({"=", "=abc", "#"}),
                    "digest"};
    const auto policy = one_of({R"({"max_reclaim_count":1})", R"({"budget_ids":["b1","b2"]})",
                                R"({"budget_ids":["b1"],"quota_policy_id":"q1"})"});
    for (const auto& optional :
         {rarely(std::to_string(now_ + 3)), rarely(std::to_string(now_ + 90'000)), rarely("key"),
          rarely("5000"), rarely("7200000"), rarely("text/plain"), rarely("00-1-1-0"),
          one_of({"", policy}), rarely("gpu"), rarely("20000"), rarely("60000")})
      arguments.push_back(upto(3) == 0 ? optional : "");
    arguments.push_back(std::string(15, 'u') + static_cast<char>('0' + number));
    if (upto(6) == 0) arguments.insert(arguments.end(), {"app.key", "value"});
    return of(number, "ff_submit", std::move(arguments));
  }

  Call of_flow(const std::string& function, Texts arguments) const {
    return {function, {"ff:flow:" + tag + ":" + flow_id + ":core"}, std::move(arguments)};
  }

  static std::string raw_uuid(unsigned number) {
    const auto id = numbered(static_cast<int>(number));
    const auto uuid = Uuid::parse(id.substr(tag.size() + 1));
    return {uuid->bytes().begin(), uuid->bytes().end()};
  }

  Call submit_flow() {
    Texts arguments{
        now(), "me", "default", "flow", "running", "digest", one_of({"finish", "stop"})};
    arguments.insert(arguments.end(), {"", "", "3600000", "", "", "", "", "0"});
    for (unsigned node = 0; node < node_count; ++node) {
      const auto before = node > 0 ? raw_uuid(solo_count + node - 1) + "s" : "";
      const Texts fields{raw_uuid(solo_count + node),
                         "n" + std::to_string(node),
                         "main",
                         "work",
                         one_of({"0", "7"}),
                         one_of({"=", "=abc"}),
                         "",
                         "",
                         "3600000",
                         rarely("text/plain"),
                         "",
                         upto(3) == 0 ? rarely("gpu") : "",
                         rarely("20000"),
                         "",
                         "",
                         "",
                         "",
                         "",
                         rarely("o"),
                         before,
                         "",
                         "",
                         "0"};
      arguments.insert(arguments.end(), fields.begin(), fields.end());
    }
    return of_flow("ff_flow_create", std::move(arguments));
  }

  Call paused_or_resumed() {
    if (upto(2) == 0) return of_flow("ff_flow_resume", {now(), "me"});
    return of_flow("ff_flow_pause", {now(), "me", "because"});
  }

  Call lease(unsigned number) {
    is_lease_ = true;
    if (upto(6) > 0) ++leases_;
    const auto lease = std::to_string(leases_);
    return of(number, "ff_lease",
              {now(), "me", one_of({"ready", "ready", "ready", "ready", "grant", "held"}),
               one_of({"w1", "w1", "w2"}), rarely("gpu"), "L" + lease, "A" + lease, "30000",
               one_of({"", "T" + lease}), one_of({"", std::to_string(now_ + 2), "4000000000000"})});
  }

  Call complete(unsigned number) {
    return of(number, "ff_complete",
              fenced(number, {one_of({"0", "1"}), "result", rarely("text/plain")}));
  }

  Call ended_otherwise(unsigned number) {
    if (upto(2) == 0) return of(number, "ff_cancel", {now(), "me", "because"});
    return of(number, "ff_fail", fenced(number, {"reason", "category"}));
  }

  Call edited(unsigned number) {
    switch (upto(4)) {
      case 0: return of(number, "ff_replay", {now(), "me", "again", "ann"});
      case 1: return of(number, "ff_progress", fenced(number, {"50", "half"}));
      case 2: return of(number, "ff_set_priority", {now(), "me", "3"});
      default: return of(number, "ff_pause", fenced(number, {"handed_back", "", "busy"}));
    }
  }

  std::mt19937 random_;
  std::int64_t now_ = 1'800'000'000'000;
  int leases_ = 0;
  unsigned number_ = 0;
  bool is_lease_ = false;
  std::map<unsigned, Texts> fences_;
};

class PlainCases : public Contract {
 protected:
  // Leaves the library of the other tests.
  ~PlainCases() override { load(library()); }

  void load(const std::string& text) { command({"FUNCTION", "LOAD", "REPLACE", text}); }

  std::string story(unsigned seed) {
    command({"FLUSHALL"});
    RandomCalls calls(seed);
    std::string story;
    for (int i = 0; i < 120; ++i) {
      const auto call = calls.next();
      story += call.name;
      for (const auto& argument : call.argv) story += ' ' + (argument.empty() ? "\"\"" : argument);
      story += "\n ";
      const auto reply = reply_of(call);
      calls.learn(reply);
      const bool shows_flow = call.name.starts_with("ff_flow_");  // as lists in no order
      for (const auto& part : shows_flow ? Texts(reply.begin(), reply.begin() + 2) : reply)
        story += ' ' + part;
      story += '\n';
    }
    for (const auto& [key, fields] : store())
      for (const auto& [field, value] : fields) story += key + ' ' + field + '=' + value + '\n';
    return story;
  }
};

TEST_F(PlainCases, AreTheSameInBothWays) {
  constexpr unsigned seeds = 60;
  std::vector<std::string> general;
  load(library_without_plain_cases());
  for (unsigned seed = 1; seed <= seeds; ++seed) general.push_back(story(seed));
  load(library());
  for (unsigned seed = 1; seed <= seeds; ++seed)
    ASSERT_EQ(story(seed), general[seed - 1]) << "seed " << seed;
}

// Creations by programs of the contract: changes and replies, with times as the fixture shows them.
class PlainCreations : public PlainCases {
 protected:
  std::string changes() {
    const Texts policies{"", "{}", R"({"timeout_policy":{"attempt_timeout_ms":1000}})"};
    std::string changes;
    const auto add = [&](const Call& call) {
      command({"FLUSHALL"});
      const auto both = change(call) + change(call);
      // A score with a priority is no time.
      changes += std::regex_replace(both, std::regex(R"((eligible <E>=)-?\d+)"), "$1score");
    };
    for (const auto& policy : policies) add(create().with(7, policy));
    for (const auto* priority : {"0", "7", "1.5", "-3", "99999", "nan"})
      add(create().with(5, priority));
    for (const auto* payload : {"", "bytes"}) add(create().with(8, payload).with(6, ""));
    add(create().with(11, R"({"a.b":"c"})"));
    add(create().with(12, far_future));
    add(create().with(9, far_future));
    add(create().with(10, "-1"));
    add(create().with(2, "").with(3, "a\nb"));
    add(create().with(13, "").key(6, ""));
    add(create().cut(8).key(6, ""));
    add(create().of(tag + ":not-a-uuid"));
    add(create().of(tag + ":11111111-1111-4111-8111-11111111111A"));
    return changes;
  }
};

TEST_F(PlainCreations, AreTheSameInBothWays) {
  load(library_without_plain_cases());
  const auto general = changes();
  load(library());
  EXPECT_EQ(changes(), general);
}

// Several executions in one call: what is stored and answered is the same as of a call for each.
class SeveralAtOnce : public Contract {
 protected:
  static constexpr int count = 3;
  Texts keys() const {
    Texts all;
    for (int i = 1; i <= count; ++i) all.push_back(exec_key("core", numbered(i)));
    return all;
  }
  static Texts own(const std::string& function, int i) {
    const auto n = std::to_string(i);
    if (function == "ff_submit") return {"=payload" + n, "", std::string(15, 'u') + n};
    if (function == "ff_lease") return {"L" + n, "A" + n, "", ""};
    // The second one has another lease.
    return {i == 2 ? "L9" : "L" + n, "1", "A" + n, "1", "result" + n, "text/plain"};
  }
  // A reply of ff_lease_many has its values in one text.
  static std::string text_of(const valkey::Reply& reply) {
    return std::regex_replace(to_text(reply), std::regex("\x1f"), R"(", ")");
  }

  std::string together(const std::string& now) {
    command({"FLUSHALL"});
    std::string story;
    const auto add = [&](const std::string& function, const Texts& shared) {
      Texts call{"FCALL", function + "_many", std::to_string(count)};
      for (const auto& key : keys()) call.push_back(key);
      call.push_back(now);
      call.insert(call.end(), shared.begin(), shared.end());
      for (int i = 1; i <= count; ++i) {
        call.push_back("me");
        for (auto& argument : own(function, i)) call.push_back(argument);
      }
      const auto reply = command(call);
      const auto& parts = *reply.as_array();
      EXPECT_EQ(parts.size(), count + 3U);
      for (int i = 0; i < count; ++i)
        story += text_of(parts[static_cast<std::size_t>(i) + 2]) + '\n';
    };
    add("ff_submit", {"default", "main", "work", "0", ""});
    add("ff_lease", {"w1", "", "30000"});
    add("ff_complete", {});
    return story + stored();
  }

  std::string one_by_one(const std::string& now) {
    command({"FLUSHALL"});
    std::string story;
    const auto add = [&](const std::string& function, int i, const Texts& arguments) {
      Texts call{"FCALL", function, "1", exec_key("core", numbered(i)), now, "me"};
      call.insert(call.end(), arguments.begin(), arguments.end());
      auto reply = command(call);
      reply.as_array()->pop_back();  // the run
      story += text_of(reply) + '\n';
    };
    for (int i = 1; i <= count; ++i) {
      const auto given = own("ff_submit", i);
      add("ff_submit", i,
          {"default", "main", "work", "0", given[0], given[1], "", "", "", "", "", "", "", "", "",
           "", "", given[2]});
    }
    for (int i = 1; i <= count; ++i) {
      const auto given = own("ff_lease", i);
      add("ff_lease", i, {"ready", "w1", "", given[0], given[1], "30000", given[2], given[3]});
    }
    for (int i = 1; i <= count; ++i) add("ff_complete", i, own("ff_complete", i));
    return story + stored();
  }

  std::string stored() {
    std::string text;
    for (const auto& [key, fields] : store())
      for (const auto& [field, value] : fields) text += key + ' ' + field + '=' + value + '\n';
    return text;
  }
};

TEST_F(SeveralAtOnce, AreAsOneByOne) {
  const std::string now = "1800000000000";
  const auto together_story = together(now);
  EXPECT_EQ(together_story, one_by_one(now));
  EXPECT_NE(together_story.find("stale_lease"), std::string::npos);
}

// A value that no library writes stops the call for its own execution only.
TEST_F(SeveralAtOnce, AFailureOfOneLeavesTheOthers) {
  command({"FLUSHALL"});
  command({"SET", exec_key("core", numbered(2)), "no hash"});
  Texts call{"FCALL",
             "ff_complete_many",
             "2",
             exec_key("core", numbered(1)),
             exec_key("core", numbered(2)),
             ""};
  for (int i = 1; i <= 2; ++i)
    for (const auto* argument : {"me", "L1", "1", "A1", "0", "", ""}) call.emplace_back(argument);
  const auto reply = command(call);
  const auto& parts = *reply.as_array();
  EXPECT_EQ(to_text(parts[2]), R"([0, "execution_not_found"])");
  ASSERT_TRUE(parts[3].as_error());
  EXPECT_TRUE(parts[3].as_error()->text.starts_with("WRONGTYPE")) << parts[3].as_error()->text;
}

}  // namespace
}  // namespace ff::test
