#include "tests/contract/fixture.hpp"

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/paths.hpp"

namespace ff::test {
namespace {

ValkeyServer& server_with_library() {
  static ValkeyServer server;
  static const bool loaded = [] {
    std::ifstream file(function_library_path());
    std::stringstream text;
    text << file.rdbuf();
    const auto reply = server.call({"FUNCTION", "LOAD", text.str()});
    if (reply.as_error()) throw std::runtime_error(reply.as_error()->text);
    return true;
  }();
  static_cast<void>(loaded);
  return server;
}

std::string lease(int number) { return fmt::format("L{}", number); }
std::string attempt_id(int number) { return fmt::format("A{}", number); }

std::string instance(const std::string& worker) { return worker + "-i1"; }

std::string attempt_key(const std::string& what = "") {
  return "ff:attempt:" + tag + ":" + E + ":0" + what;
}
std::string worker_leases(const std::string& worker) {
  return index_key("worker:" + instance(worker) + ":leases");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string shortened(std::string text) {
  text = replaced(text, "ff:exec:" + tag + ":" + E + ":", "");
  text = replaced(text, "ff:attempt:" + tag + ":" + E + ":", "attempt:");
  text = replaced(text, "ff:idx:" + tag + ":", "idx:");
  text = replaced(text, "ff:flow:" + tag + ":" + flow_id + ":", "flow:");
  text = replaced(text, "ff:wp:" + tag + ":", "wp:");
  text = replaced(text, "ff:signal:" + tag + ":", "signal:");
  text = replaced(text, E, "<E>");
  text = replaced(text, E.substr(tag.size() + 1), "<uuid>");
  return replaced(text, other_E, "<F>");
}

const std::regex time_pattern(R"(\b1[0-9]{12}\b)");

std::string relative(const std::string& text, std::int64_t base) {
  std::string out;
  auto last = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), time_pattern), end; it != end; ++it) {
    out.append(last, it->prefix().second);
    const auto later = std::stoll(it->str()) - base;
    out += later > 0 ? fmt::format("t+{}", later) : "t";
    last = it->suffix().first;
  }
  return out.append(last, text.cend());
}

// The greatest time in it that is not after `now`.
std::int64_t latest_past(const std::string& text, std::int64_t now) {
  std::int64_t latest = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), time_pattern), end; it != end; ++it) {
    const auto time = std::stoll(it->str());
    if (time <= now) latest = std::max(latest, std::int64_t{time});
  }
  return latest;
}

std::string printed(const Store& store) {
  std::string lines;
  for (const auto& [key, fields] : store)
    for (const auto& [field, value] : fields) lines += fmt::format("{} {}={}\n", key, field, value);
  return lines;
}

bool has(const Store& store, const std::string& key, const std::string& field) {
  const auto found = store.find(key);
  return found != store.end() && found->second.contains(field);
}

std::string difference(const Store& before, const Store& after) {
  Store gone;
  Store come = after;
  for (const auto& [key, fields] : before)
    for (const auto& [field, value] : fields) {
      if (!has(after, key, field))
        gone[key][field] = value;
      else if (after.at(key).at(field) == value)
        come.at(key).erase(field);
    }
  std::string lines;
  for (const auto& [key, fields] : gone)
    for (const auto& [field, value] : fields) lines += fmt::format("{} -{}\n", key, field);
  return lines + printed(come);
}

std::string line_of(const Texts& parts) {
  Texts shown;
  for (const auto& part : parts) shown.push_back(part.empty() ? "\"\"" : shortened(part));
  return fmt::format("{}", fmt::join(shown, " "));
}

std::string text_of(const valkey::Reply& reply) {
  if (reply.as_text()) return *reply.as_text();
  if (reply.as_int()) return std::to_string(*reply.as_int());
  return valkey::to_text(reply);
}

Texts texts_of(const valkey::Reply& reply) {
  if (!reply.as_array()) return {text_of(reply)};
  Texts texts;
  for (const auto& each : *reply.as_array()) texts.push_back(text_of(each));
  return texts;
}

// Everything as a list of key, field, value.
constexpr auto dump_script = R"(
  local list = {}
  local function add(key, field, value)
    list[#list + 1] = key
    list[#list + 1] = field
    list[#list + 1] = value
  end
  for _, key in ipairs(server.call('KEYS', '*')) do
    local kind = server.call('TYPE', key).ok
    if kind == 'string' then
      local value = server.call('GET', key)
      if string.find(key, ':created$') then value = #value / 24 .. ' record' end
      add(key, '', value)
    elseif kind == 'set' then
      for _, member in ipairs(server.call('SMEMBERS', key)) do add(key, member, 'in') end
    elseif kind == 'stream' then
      for i, entry in ipairs(server.call('XRANGE', key, '-', '+')) do
        add(key, tostring(i), table.concat(entry[2], ' '))
      end
    else
      local pairs = kind == 'hash' and server.call('HGETALL', key)
        or server.call('ZRANGE', key, 0, -1, 'WITHSCORES')
      for i = 1, #pairs, 2 do
        -- `v` counts changes, for the engine alone; every one of them has it.
        -- So are a condition in our own words, and its tally.
        if pairs[i] ~= 'v' and pairs[i] ~= 'tally' and pairs[i] ~= 'condition' then add(key, pairs[i], pairs[i + 1]) end
      end
    end
    local expires_at = server.call('PEXPIRETIME', key)
    if expires_at > 0 then add(key, '(expires)', string.format('%.0f', expires_at)) end
  end
  return list)";

}  // namespace

Call Call::with(std::size_t position, std::string value) const {
  auto copy = *this;
  copy.argv.at(position - 1) = std::move(value);
  return copy;
}

Call Call::of(const std::string& id) const {
  auto copy = *this;
  for (auto& key : copy.keys) key = replaced(key, E, id);
  for (auto& argument : copy.argv) argument = replaced(argument, E, id);
  return copy;
}

Call Call::cut(std::size_t count) const {
  auto copy = *this;
  copy.argv.resize(count);
  return copy;
}

Call Call::key(std::size_t position, std::string value) const {
  auto copy = *this;
  copy.keys.at(position - 1) = std::move(value);
  return copy;
}

std::string numbered(int number) {
  return fmt::format("{}:55555555-5555-4555-8555-{:012}", tag, number);
}

std::string exec_key(const std::string& what, const std::string& id) {
  return "ff:exec:" + tag + ":" + id + ":" + what;
}
std::string index_key(const std::string& what) { return "ff:idx:" + tag + ":" + what; }
std::string lane_key(const std::string& what, const std::string& lane) {
  return index_key("lane:" + lane + ":" + what);
}

Call create() {
  return {"ff_create_execution",
          {exec_key("core"), exec_key("payload"), exec_key("policy"), exec_key("tags"),
           lane_key("eligible"), "ff:noop:" + tag, index_key("execution_deadline"),
           index_key("all_executions")},
          {E, "default", "main", "job", "0", "me", "", "", "", "", "", "", "7"}};
}

Call issue_claim_grant(const std::string& worker) {
  return {"ff_issue_claim_grant",
          {exec_key("core"), exec_key("claim_grant"), lane_key("eligible")},
          {E, worker, instance(worker), "main", "", "5000", "", "", ""}};
}

Call issue_reclaim_grant(const std::string& worker) {
  return {"ff_issue_reclaim_grant",
          {exec_key("core"), exec_key("claim_grant"), index_key("lease_expiry")},
          issue_claim_grant(worker).argv};
}

Call claim(int number, const std::string& worker) {
  return {
      "ff_claim_execution",
      {exec_key("core"), exec_key("claim_grant"), lane_key("eligible"), index_key("lease_expiry"),
       worker_leases(worker), attempt_key(), attempt_key(":usage"), attempt_key(":policy"),
       exec_key("attempts"), exec_key("lease:current"), exec_key("lease:history"),
       lane_key("active"), index_key("attempt_timeout"), index_key("execution_deadline")},
      {E, worker, instance(worker), "main", "", lease(number), "30000", "20000", attempt_id(number),
       "{}", "", ""}};
}

Call claim_resumed(int number, const std::string& worker) {
  return {
      "ff_claim_resumed_execution",
      {exec_key("core"), exec_key("claim_grant"), lane_key("eligible"), index_key("lease_expiry"),
       worker_leases(worker), attempt_key(), exec_key("lease:current"), exec_key("lease:history"),
       lane_key("active"), index_key("attempt_timeout"), index_key("execution_deadline")},
      {E, worker, instance(worker), "main", "", lease(number), "30000", ""}};
}

Call grant_and_claim(int number, const std::string& worker) {
  return {"ff_issue_grant_and_claim",
          {exec_key("core"), exec_key("claim_grant"), lane_key("eligible"),
           index_key("lease_expiry"), worker_leases(worker), exec_key("attempts"),
           exec_key("lease:current"), exec_key("lease:history"), lane_key("active"),
           index_key("attempt_timeout"), index_key("execution_deadline")},
          {E, worker, instance(worker), "main", "", lease(number), "30000", attempt_id(number),
           "{}", "", ""}};
}

Call reclaim(int number, const std::string& worker) {
  return {
      "ff_reclaim_execution",
      {exec_key("core"), exec_key("claim_grant"), attempt_key(),
       "ff:stream:" + tag + ":" + E + ":0:meta", attempt_key(), attempt_key(":usage"),
       exec_key("attempts"), exec_key("lease:current"), exec_key("lease:history"),
       index_key("lease_expiry"), worker_leases(worker), lane_key("active"),
       index_key("attempt_timeout"), index_key("execution_deadline")},
      {E, worker, instance(worker), "main", lease(number), "30000", attempt_id(number), "", "100"}};
}

Call complete(int number) {
  return {"ff_complete_execution",
          {exec_key("core"), attempt_key(), index_key("lease_expiry"), worker_leases("w1"),
           lane_key("terminal"), exec_key("lease:current"), exec_key("lease:history"),
           lane_key("active"), "ff:stream:" + tag + ":" + E + ":0:meta", exec_key("result"),
           index_key("attempt_timeout"), index_key("execution_deadline")},
          {E, lease(number), std::to_string(number), attempt_id(number), "done", ""}};
}

Call fail(int number, const std::string& retry_policy) {
  return {"ff_fail_execution",
          {exec_key("core"), attempt_key(), index_key("lease_expiry"), worker_leases("w1"),
           lane_key("terminal"), lane_key("delayed"), exec_key("lease:current"),
           exec_key("lease:history"), lane_key("active"), "ff:stream:" + tag + ":" + E + ":0:meta",
           index_key("attempt_timeout"), index_key("execution_deadline")},
          {E, lease(number), std::to_string(number), attempt_id(number), "oops", "transient",
           retry_policy, ""}};
}

Call delay(int number, const std::string& until) {
  return {"ff_delay_execution",
          {exec_key("core"), attempt_key(), exec_key("lease:current"), exec_key("lease:history"),
           index_key("lease_expiry"), worker_leases("w1"), lane_key("active"), lane_key("delayed"),
           index_key("attempt_timeout")},
          {E, lease(number), std::to_string(number), attempt_id(number), until, ""}};
}

Call wait_for_children(int number) {
  return {"ff_move_to_waiting_children",
          {exec_key("core"), attempt_key(), exec_key("lease:current"), exec_key("lease:history"),
           index_key("lease_expiry"), worker_leases("w1"), lane_key("active"),
           lane_key("blocked:dependencies"), index_key("attempt_timeout")},
          {E, lease(number), std::to_string(number), attempt_id(number), ""}};
}

Call renew(int number) {
  return {"ff_renew_lease",
          {exec_key("core"), exec_key("lease:current"), exec_key("lease:history"),
           index_key("lease_expiry")},
          {E, "0", attempt_id(number), lease(number), std::to_string(number), "60000", "5000"}};
}

Call progress(int number) {
  return {"ff_update_progress",
          {exec_key("core")},
          {E, lease(number), std::to_string(number), "50", "half"}};
}

Call cancel(const std::string& source) {
  Texts keys{exec_key("core"),
             attempt_key(),
             "ff:stream:" + tag + ":" + E + ":0:meta",
             exec_key("lease:current"),
             exec_key("lease:history"),
             index_key("lease_expiry"),
             worker_leases("w1"),
             exec_key("suspension:current"),
             "ff:wp:" + tag + ":none",
             "ff:wp:" + tag + ":none:condition",
             index_key("suspension_timeout"),
             lane_key("terminal"),
             index_key("attempt_timeout"),
             index_key("execution_deadline")};
  for (const auto* set : {"eligible", "delayed", "blocked:dependencies", "blocked:budget",
                          "blocked:quota", "blocked:route", "blocked:operator"})
    keys.push_back(lane_key(set));
  return {"ff_cancel_execution", keys, {E, "not needed", source, "", ""}};
}

Call promote() {
  return {"ff_promote_delayed",
          {exec_key("core"), lane_key("delayed"), lane_key("eligible")},
          {E, far_future}};
}

Call mark_expired() {
  return {"ff_mark_lease_expired_if_due",
          {exec_key("core"), exec_key("lease:current"), index_key("lease_expiry"),
           exec_key("lease:history")},
          {E}};
}

Call revoke() {
  return {"ff_revoke_lease",
          {exec_key("core"), exec_key("lease:current"), exec_key("lease:history"),
           index_key("lease_expiry"), worker_leases("w1")},
          {E, "", "operator_revoke"}};
}

Call expire(const std::string& reason) {
  return {"ff_expire_execution",
          {exec_key("core"), attempt_key(), "ff:stream:" + tag + ":" + E + ":0:meta",
           exec_key("lease:current"), exec_key("lease:history"), index_key("lease_expiry"),
           worker_leases("w1"), lane_key("active"), lane_key("terminal"),
           index_key("attempt_timeout"), index_key("execution_deadline"), lane_key("suspended"),
           index_key("suspension_timeout"), exec_key("suspension:current")},
          {E, reason}};
}

Call change_priority(const std::string& priority) {
  return {"ff_change_priority", {exec_key("core"), lane_key("eligible")}, {E, priority}};
}

Call set_tags(Texts pairs) {
  return {"ff_set_execution_tags", {exec_key("core"), exec_key("tags")}, std::move(pairs)};
}

Call replay() {
  return {"ff_replay_execution",
          {exec_key("core"), lane_key("terminal"), lane_key("eligible"), exec_key("lease:history")},
          {E, "0"}};
}

Call block(const std::string& reason) {
  return {"ff_block_execution_for_admission",
          {exec_key("core"), lane_key("eligible"), lane_key("blocked:budget")},
          {E, reason, "too dear", "1"}};
}

Call unblock() {
  return {"ff_unblock_execution",
          {exec_key("core"), lane_key("blocked:budget"), lane_key("eligible")},
          {E, "1", ""}};
}

Call register_worker() {
  return {
      "ff_register_worker",
      {"ff:worker:default:w1-i1:alive", "ff:worker:default:w1-i1:caps", "ff:idx:default:workers"},
      {"w1-i1", "w1", "main", "cpu,gpu", "60000", "1234"}};
}

Call heartbeat() {
  return {"ff_heartbeat_worker",
          {"ff:worker:default:w1-i1:alive", "ff:worker:default:w1-i1:caps"},
          {"5678"}};
}

Contract::Contract() : server_(server_with_library()) { server_.flushall(); }

Texts Contract::reply_of(const Call& call) {
  Texts command{"FCALL", call.name, std::to_string(call.keys.size())};
  command.insert(command.end(), call.keys.begin(), call.keys.end());
  command.insert(command.end(), call.argv.begin(), call.argv.end());
  return texts_of(server_.call(command));
}

std::string Contract::run(const Call& call) {
  return std::regex_replace(line_of(reply_of(call)), time_pattern, "X");
}

Store Contract::store() {
  Store stored;
  const auto list = texts_of(server_.call({"EVAL", dump_script, "0"}));
  if (list.size() % 3 != 0) throw std::runtime_error(list.at(0));
  for (std::size_t i = 0; i < list.size(); i += 3) {
    if (list[i].starts_with("ff:servers:")) continue;  // an engine beside gives signs of life
    stored[shortened(list[i])][shortened(list[i + 1])] = shortened(list[i + 2]);
  }
  return stored;
}

std::string Contract::change(const Call& call) {
  const auto before = store();
  await("the clock to move on", [&] { return now() > latest_past(printed(before), now()); });
  const auto reply = line_of(reply_of(call));
  const auto lines = reply + "\n" + difference(before, store());
  return relative(lines, latest_past(lines, now()));
}

void Contract::expect_refused(const Call& call, const std::string& reply) {
  const auto before = store();
  EXPECT_EQ(run(call), reply) << call.name << " " << line_of(call.argv);
  EXPECT_EQ(store(), before) << call.name << " " << line_of(call.argv);
}

// How to come to a state: from the one before, with what is over first, by these calls.
struct Step {
  std::string before;
  std::vector<Call> calls;
  std::string over = "";
};

void Contract::bring_to(const std::string& state) {
  static const std::map<std::string, Step> steps{
      {"none", {"", {}}},
      {"waiting", {"", {create()}}},
      {"delayed", {"", {create().with(9, far_future)}}},
      {"blocked", {"waiting", {block()}}},
      {"cancelled", {"waiting", {cancel()}}},
      {"granted", {"waiting", {issue_claim_grant()}}},
      {"active", {"granted", {claim()}}},
      {"overdue", {"active", {}, "lease_expires_at"}},
      {"expired", {"overdue", {mark_expired()}}},
      {"revoked", {"active", {revoke()}}},
      {"lost_granted", {"expired", {issue_reclaim_grant()}}},
      {"retrying", {"active", {fail(1, R"({"max_retries":2})")}}},
      {"paused", {"active", {delay()}}},
      {"resumable", {"paused", {promote()}, "delay_until"}},
      {"resumable_granted", {"resumable", {issue_claim_grant()}}},
      {"resumed", {"resumable", {grant_and_claim(2)}}},
      {"children", {"active", {wait_for_children()}}},
      {"completed", {"active", {complete()}}},
      {"failed", {"active", {fail()}}}};
  const auto& step = steps.at(state);
  if (step.before.empty())
    server_.flushall();
  else
    bring_to(step.before);
  if (!step.over.empty()) rewind(step.over);
  if (state == "children") server_.call({"SADD", exec_key("deps:unresolved"), "edge"});
  for (const auto& call : step.calls) {
    const auto reply = run(call);
    if (!reply.starts_with("1 ")) throw std::runtime_error(call.name + ": " + reply);
  }
}

void Contract::rewind(const std::string& field) {
  static const std::map<std::string, Texts> indexes{
      {"lease_expires_at", {lane_key("active"), index_key("lease_expiry")}},
      {"delay_until", {lane_key("delayed"), index_key("delays")}},
      {"attempt_deadline_at", {index_key("attempt_timeout")}},
      {"grant_expires_at", {index_key("grants")}},
      {"deadline", {index_key("execution_deadline")}},
      {"suspension_timeout_at", {index_key("suspension_timeout"), lane_key("suspended")}}};
  const auto past = std::to_string(now() - 1);
  server_.call({"HSET", exec_key("core"), field, past});
  for (const auto& key : indexes.at(field)) server_.call({"ZADD", key, past, E});
}

std::string Contract::read(const Texts& command) {
  const auto reply = server_.call(command);
  return reply.as_text() ? *reply.as_text() : "";
}

std::string Contract::core(const std::string& field, const std::string& id) {
  return read({"HGET", exec_key("core", id), field});
}

std::string Contract::attempt(const std::string& index, const std::string& field) {
  return read({"HGET", "ff:attempt:" + tag + ":" + E + ":" + index, field});
}

std::int64_t Contract::now() {
  const auto time = texts_of(server_.call({"TIME"}));
  return std::stoll(time.at(0)) * 1000 + std::stoll(time.at(1)) / 1000;
}

}  // namespace ff::test
