// Fixed properties of an operation beside its fields: one row per operation, inside its struct. Routing in
// the stores, durability, roles, audit, HTTP routes, the OpenAPI document and the remote engine follow from it.
#pragma once

#include <flowfabric/states.hpp>

#include <cstdint>
#include <string_view>

namespace ff {

// The kind of record that an operation addresses. An owner and everything that belongs to it live in one
// partition.
enum class Owner : std::uint8_t {
  engine,  // no single record: lists, counts, health
  execution,
  flow,
  budget,
  quota,
  worker,
  key_ring,  // the secrets that sign waitpoint tokens: one ring of a store
  lane,      // which lanes are paused: one list of a store
  audit,     // the audit log of a store
};

// Whether an operation writes, and whether its reply waits for the disk under the standard durability.
enum class Writes : std::uint8_t {
  nothing,
  logged,  // the reply does not wait for the disk: losing it in a power cut costs a re-run, never a result
  durable,  // the reply waits for the disk
};

// The right that a caller needs. A token has any of the last four; `admin` may do everything, and all may
// read.
enum class Role : std::uint8_t { nobody, read, submit, work, admin };
FF_NAMES(Role, "nobody", "read", "submit", "work", "admin");

enum class HttpMethod : std::uint8_t { get, post, put, delete_ };

struct HttpRow {
  // The outcome in one word, the first field of a JSON reply. None for operations that only read.
  struct Words {
    std::string_view usual = "";
    std::string_view otherwise = "";
  };
  HttpMethod method{};
  std::string_view path = "";  // {name} stands for the request field of that name
  Role role{};
  std::string_view summary = "";
  Words words = {};
  std::string_view alias = "";  // its other path, of the published contract or an earlier version
};

struct OperationRow {
  Owner owner{};
  Writes writes{};
  bool is_stored = false;   // a store carries it out as it is
  bool is_audited = false;  // an operator's action: the log and the audit log tell who did it
  bool is_traffic = false;  // programs do it all the time: the audit log does not keep it
  HttpRow http = {};        // of operations that an engine offers
};

struct Done {
  bool operator==(const Done&) const = default;
};

}  // namespace ff
