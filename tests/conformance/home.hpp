// The places where an engine can live. What the conformance suite says must hold in each.
#pragma once

#include <flowfabric/engine.hpp>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace ff::conformance {

// An engine with an empty store, in simulated time.
class Home {
 public:
  virtual ~Home() = default;

  virtual Engine& engine() = 0;

  // The store's time, which only the test moves.
  virtual TimePoint now() const = 0;
  virtual void advance(Millis by) = 0;

  // Does now what the engine's background scanners would do in time.
  virtual void run_scanners() = 0;

  // Stops the engine and opens it again on the same store.
  virtual void restart() = 0;

  // Whether it makes backups itself.
  virtual bool backs_up() const = 0;
};

struct HomeKind {
  std::string name;
  std::unique_ptr<Home> (*make)();

  friend void PrintTo(const HomeKind& kind, std::ostream* out) { *out << kind.name; }
};

// A new store is one more row here.
std::vector<HomeKind> home_kinds();

}  // namespace ff::conformance
