#include "valkey/subscriber.hpp"

#include <map>
#include <utility>

#include <boost/asio/post.hpp>

#include "valkey/cluster/router.hpp"
#include "valkey/listener.hpp"

namespace ff::valkey {

// Which node's listener has which channels; changes with the cluster. Everything but wait() happens on the
// router's executor.
class Subscriber::Assignment : public std::enable_shared_from_this<Assignment> {
 public:
  Assignment(std::shared_ptr<Router> router, std::vector<std::string> channels, Handlers handlers)
      : router_(std::move(router)),
        channels_(std::move(channels)),
        handlers_(std::move(handlers)) {}

  void start() {
    if (closed_) return;
    router_->start();
    auto changed = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->assign();
    };
    watcher_ = std::make_shared<Router::Watcher>(std::move(changed));
    router_->watch(watcher_);
    assign();
  }

  void close() {
    closed_ = true;
    for (auto& [name, listener] : listeners_) listener->close();
    listeners_.clear();
  }

  // Runs the listeners, start() and close().
  CoroutineGroup& coroutines() { return coroutines_; }
  const asio::any_io_executor& executor() const { return router_->executor(); }

 private:
  using Tasks = std::map<std::string, Listener::Task>;  // by the node's name

  Tasks tasks() const {
    const auto& options = router_->context()->options;
    Tasks tasks;
    if (channels_.empty()) return tasks;
    if (!options.cluster) return {{"", {options.endpoints, channels_}}};
    const auto nodes = router_->nodes();
    for (const auto& channel : channels_) {
      const auto slot = slot_of(channel);
      const auto serves = [slot](const SlotRange& range) {
        return range.first <= slot && slot <= range.last;
      };
      for (const auto& node : nodes) {
        if (std::ranges::none_of(node.slots, serves)) continue;
        auto& task = tasks[node.name.text];
        task.endpoints = {node.endpoint};
        task.channels.push_back(channel);
      }
    }
    return tasks;
  }

  // A listener whose channels have changed is replaced by another.
  void assign() {
    if (router_->is_closed()) return close();
    if (closed_) return;
    // Without a cluster the nodes are always the same, but the primary among them is not.
    if (!router_->context()->options.cluster)
      for (const auto& [name, listener] : listeners_) listener->look_again();
    auto wanted = tasks();
    std::erase_if(listeners_, [&](const auto& entry) {
      const auto found = wanted.find(entry.first);
      const bool stays = found != wanted.end() && found->second == entry.second->task();
      if (!stays) entry.second->close();
      return !stays;
    });
    for (auto& [name, task] : wanted) {
      auto& listener = listeners_[name];
      if (listener) continue;
      listener = std::make_shared<Listener>(router_->context(), std::move(task), handlers_,
                                            [router = router_] { router->want_refresh(); });
      coroutines_.spawn(executor(), [listener] { return listener->run(); });
    }
  }

  std::shared_ptr<Router> router_;
  std::vector<std::string> channels_;
  Handlers handlers_;
  std::shared_ptr<Router::Watcher> watcher_;
  std::map<std::string, std::shared_ptr<Listener>> listeners_;
  bool closed_ = false;
  CoroutineGroup coroutines_;
};

Subscriber::Subscriber(Client& client, std::vector<std::string> channels, Handlers handlers)
    : assignment_(
          std::make_shared<Assignment>(client.router_, std::move(channels), std::move(handlers))) {
  auto start = [kept = assignment_]() -> asio::awaitable<void> {
    kept->start();
    co_return;
  };
  assignment_->coroutines().spawn(assignment_->executor(), start);
}

Subscriber::~Subscriber() {
  close();
  assignment_->coroutines().wait();
}

void Subscriber::close() {
  auto close = [kept = assignment_]() -> asio::awaitable<void> {
    kept->close();
    co_return;
  };
  assignment_->coroutines().spawn(assignment_->executor(), close);
}

}  // namespace ff::valkey
