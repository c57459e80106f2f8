// An agent that asks before it acts: it looks around by itself, and asks a person before each action that changes
// something. What it has done is kept, so that waiting repeats nothing.
#include <flowfabric/flowfabric.hpp>

#include <condition_variable>
#include <iostream>
#include <queue>

#include <boost/json.hpp>

using namespace std::chrono_literals;

namespace {

// Stands for the person's mailbox.
class Inbox {
 public:
  void put(const ff::IssuedWaitpoint& mail) {
    const std::lock_guard lock(mutex_);
    mails_.push(mail);
    arrived_.notify_one();
  }
  ff::IssuedWaitpoint take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !mails_.empty(); });
    auto mail = std::move(mails_.front());
    mails_.pop();
    return mail;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::queue<ff::IssuedWaitpoint> mails_;
} inbox;

// Stands for a language model, which makes a plan.
boost::json::value think(const std::string& goal) {
  std::cout << "thinking about: " << goal << std::endl;
  return {{{"action", "list old branches"}, {"changes", false}},
          {{"action", "delete branch fix-7"}, {"changes", true}},
          {{"action", "delete branch main"}, {"changes", true}}};
}

// [agent]
ff::Outcome agent(ff::Task& task) {
  // A later run must not make another plan.
  const auto plan = task.once("plan", [&] { return think(task.text()); });
  std::string report;
  for (std::size_t i = 0; i < plan.as_array().size(); ++i) {
    const std::string action = plan.at(i).at("action").as_string().c_str();
    const auto name = "action-" + std::to_string(i);
    if (plan.at(i).at("changes").as_bool()) {
      const auto hand_out = [](const ff::IssuedWaitpoint& mail) { inbox.put(mail); };
      const auto decision = task.ask(name, ff::approval("May I " + action + "?"), hand_out);
      if (!decision.is("approve")) {
        report += "not allowed: " + action + "\n";
        continue;
      }
    }
    report += task.once(name, [&] { return "done: " + action + "\n"; });
  }
  return report;
}
// [agent]

}  // namespace

int main() {
  const auto engine = ff::must(ff::open("embedded:./agent_asks_first-data"));
  ff::Worker worker(*engine);
  worker.handle("agent", agent);
  ff::must(worker.start());

  ff::Client client(*engine);
  const auto id = ff::must(client.submit({.kind = "agent", .payload = "tidy up"})).id;
  for (int i = 0; i < 2; ++i) {
    const auto mail = inbox.take();
    const auto& title = mail.info.question.value().title;
    const std::string answer = title.find("main") == std::string::npos ? "approve" : "reject";
    std::cout << title << " " << answer << std::endl;
    ff::must(client.answer(mail.tokens.at(0).token, {.signal = answer}));
  }
  std::cout << ff::must(client.result(id, 30s));
}
