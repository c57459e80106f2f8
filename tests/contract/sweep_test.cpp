// Calls for many partitions, and lists of all executions: one call does a limited amount of work.
#include <algorithm>

#include <fmt/format.h>

#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

constexpr std::size_t record_bytes = 24;  // of the list of a namespace's executions

Texts texts_in(const valkey::Reply& reply) {
  Texts texts;
  if (const auto* list = reply.as_array())
    for (const auto& each : *list) std::ranges::copy(texts_in(each), std::back_inserter(texts));
  else if (const auto* text = reply.as_text())
    texts.push_back(*text);
  return texts;
}

std::string id_of(const std::string& raw) {
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(raw[i]));
  }
  return tag + ":" + text;
}

class Sweeps : public Contract {
 protected:
  // An execution that ended long ago.
  void end_one(int number) {
    const auto id = numbered(number);
    run(create().of(id));
    run(cancel().of(id));
    command({"HSET", exec_key("core", id), "completed_at", "1000"});
    command({"ZADD", lane_key("terminal"), "1000", id});
  }
  void remove(int number) {
    command({"FCALL", "ff_remove", "1", exec_key("core", numbered(number)), "", "test"});
  }
  Texts ask(const std::string& function, const Texts& arguments) {
    Texts words{"FCALL_RO", function, "0"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return texts_in(command(words));
  }

  // The list of all executions, as records.
  Texts records() {
    const auto reply = command({"GET", index_key("ns:default:created")});
    Texts found;
    if (const auto* text = reply.as_text())
      for (std::size_t i = 0; i < text->size(); i += record_bytes)
        found.push_back(text->substr(i, record_bytes));
    return found;
  }
  // Those that are there, in the order of the list.
  Texts listed() {
    Texts ids;
    for (const auto& record : records())
      if (const auto id = id_of(record.substr(8)); !core("lane_id", id).empty()) ids.push_back(id);
    return ids;
  }
};

TEST_F(Sweeps, EndAfterTheirSliceAndTellHowManyPartitionsAreLeft) {
  run(create());
  const Texts partitions{tag, "{fp:8}", "{fp:9}"};
  EXPECT_EQ(ask("ff_count", {partitions[0], partitions[1], partitions[2], "slice:0"}),
            (Texts{"OK", "rest:2", "main", "waiting", "1"}));
  EXPECT_EQ(ask("ff_count", {partitions[1], partitions[2], "slice:0"}), (Texts{"OK", "rest:1"}));
  EXPECT_EQ(ask("ff_count", {partitions[2], "slice:0"}), Texts{"OK"});
}

// A partition can have very many lanes.
TEST_F(Sweeps, GoOnInsideAPartition) {
  for (const auto* lane : {"c", "a", "b"}) {
    command({"HSET", index_key("totals"), std::string(lane) + "\x1f" + "all", "1"});
    command({"ZADD", lane_key("delayed", lane), "1", "x"});
  }
  const auto count = [&](const std::string& after) {
    return ask("ff_count", {tag, "{fp:8}", "slice:0:" + after});
  };
  EXPECT_EQ(count(""), (Texts{"OK", "rest:2", "queue:a", "a", "delayed", "1"}));
  EXPECT_EQ(count("a"), (Texts{"OK", "rest:2", "queue:b", "b", "delayed", "1"}));
  EXPECT_EQ(count("b"), (Texts{"OK", "rest:1", "c", "delayed", "1"}));
}

TEST_F(Sweeps, OfOlderProgramsHaveNoSlices) {
  run(create());
  EXPECT_EQ(ask("ff_count", {tag, "{fp:8}", "{fp:9}"}), (Texts{"OK", "main", "waiting", "1"}));
}

TEST_F(Sweeps, FindOnlySoManyExecutionsToForget) {
  for (int i = 1; i <= 5; ++i) end_one(i);
  const auto time = std::to_string(now());
  const auto found = ask("ff_sweep_retention", {time, "2", tag, "{fp:8}", "slice:1000"});
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[1], "rest:1") << "the other partition is left for when these two are gone";
  EXPECT_LE(std::stoll(found[2]), now()) << "there is more";
  EXPECT_EQ(Texts(found.begin() + 3, found.end()), (Texts{numbered(1), numbered(2)}));
}

TEST_F(Sweeps, OfRetentionTellWhenTheNextIsDue) {
  end_one(1);
  command({"ZADD", lane_key("terminal"), std::to_string(now()), numbered(1)});
  const auto found = ask("ff_sweep_retention", {std::to_string(now()), "2", tag});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_GT(std::stoll(found[1]), now());
}

TEST_F(Sweeps, TheListOfAllExecutionsStaysCompleteWhileItShrinks) {
  constexpr int count = 450;
  for (int i = 1; i <= count; ++i) end_one(i);
  std::vector<int> left;
  for (int i = 1; i <= count; ++i) left.push_back(i);
  const auto remove_one = [&](std::size_t at) {
    remove(left[at]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  };

  std::size_t longest = 0;
  for (int round = 0; left.size() > 3; ++round) {
    remove_one(static_cast<std::size_t>(round * 7) % left.size());
    if (round % 20 == 0) {
      end_one(count + 1 + round);
      left.push_back(count + 1 + round);
    }
    const auto all = records();
    ASSERT_TRUE(std::ranges::is_sorted(all, {}, [](const std::string& each) { return each.substr(0, 8); }));
    if (round % 9 > 0) continue;
    Texts expected;
    for (const int number : left) expected.push_back(numbered(number));
    ASSERT_EQ(listed(), expected) << "after " << round;
    if (left.size() > 100) continue;
    longest = std::max(longest, all.size() - left.size());
  }
  EXPECT_LT(longest, 300u) << "records that lead nowhere are dropped";
  while (!left.empty()) remove_one(0);
  EXPECT_EQ(records(), Texts{});
}

}  // namespace
}  // namespace ff::test
