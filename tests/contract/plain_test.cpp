// The straight way of plain cases (lib/plain.lua) against the general one: the same random calls into the library with
// and without it. Every reply and everything stored must be the same.
#include <fstream>
#include <random>
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
  std::string one_of(const Texts& texts) { return texts[upto(static_cast<unsigned>(texts.size()))]; }
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
    Texts arguments{now(), "me", one_of({"default", "default", "other"}), one_of({"main", "side"}), "work",
                    one_of({"0", "0", "7"}), one_of({"=", "=abc", "#"}), "digest"};
    const auto policy = one_of({R"({"max_reclaim_count":1})", R"({"budget_ids":["b1","b2"]})",
                                R"({"budget_ids":["b1"],"quota_policy_id":"q1"})"});
    for (const auto& optional :
         {rarely(std::to_string(now_ + 3)), rarely(std::to_string(now_ + 90'000)), rarely("key"), rarely("5000"),
          rarely("7200000"), rarely("text/plain"), rarely("00-1-1-0"), one_of({"", policy}),
          rarely("gpu"), rarely("20000"), rarely("60000")})
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
    Texts arguments{now(), "me", "default", "flow", "running", "digest", one_of({"finish", "stop"})};
    arguments.insert(arguments.end(), {"", "", "3600000", "", "", "", "", "0"});
    for (unsigned node = 0; node < node_count; ++node) {
      const auto before = node > 0 ? raw_uuid(solo_count + node - 1) + "s" : "";
      const Texts fields{raw_uuid(solo_count + node), "n" + std::to_string(node), "main", "work",
                         one_of({"0", "7"}), one_of({"=", "=abc"}), "", "", "3600000", rarely("text/plain"), "",
                         upto(3) == 0 ? rarely("gpu") : "", rarely("20000"), "", "", "", "", "",
                         rarely("o"), before, "", "", "0"};
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
              {now(), "me", one_of({"ready", "ready", "ready", "ready", "grant", "held"}), one_of({"w1", "w1", "w2"}),
               rarely("gpu"), "L" + lease, "A" + lease, "30000", one_of({"", "T" + lease}),
               one_of({"", std::to_string(now_ + 2), "4000000000000"})});
  }

  Call complete(unsigned number) {
    return of(number, "ff_complete", fenced(number, {one_of({"0", "1"}), "result", rarely("text/plain")}));
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
      for (const auto& part : shows_flow ? Texts(reply.begin(), reply.begin() + 2) : reply) story += ' ' + part;
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

}  // namespace
}  // namespace ff::test
