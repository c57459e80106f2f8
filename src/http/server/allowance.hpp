// A limited amount of something that clients take up.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace ff::http {

// Thread-safe. It must outlive the shares.
class Allowance {
 public:
  explicit Allowance(std::size_t most) : most_(most) {}

  // A part of it, given back when it goes. False: there was not enough left.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), amount_(other.amount_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(amount_, other.amount_);
      return *this;
    }
    ~Share() {
      if (of_) of_->used_ -= amount_;
    }
    explicit operator bool() const { return of_ != nullptr; }

    // Makes it `amount`, which must not be less than it is. False: there was not enough left, and it stays
    // as it is.
    bool grow_to(std::size_t amount) {
      auto more = of_->take(amount - amount_);
      if (!more) return false;
      amount_ += std::exchange(more.amount_, 0);
      return true;
    }

   private:
    friend class Allowance;
    Share(Allowance* of, std::size_t amount) : of_(of), amount_(amount) {}
    Allowance* of_ = nullptr;
    std::size_t amount_ = 0;
  };

  Share take(std::size_t amount = 1) {
    if (used_.fetch_add(amount) + amount <= most_) return Share(this, amount);
    used_ -= amount;
    return {};
  }

  std::size_t used() const { return used_; }
  std::size_t most() const { return most_; }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> used_ = 0;
};

// The same amount for each of many holders. Thread-safe; it must outlive the shares.
class KeyedAllowance {
 public:
  explicit KeyedAllowance(std::size_t most_each) : most_(most_each) {}

  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), place_(other.place_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(place_, other.place_);
      return *this;
    }
    ~Share() {
      if (of_) of_->give_back(place_);
    }
    explicit operator bool() const { return of_ != nullptr; }

   private:
    friend class KeyedAllowance;
    using Place = std::map<std::string, std::size_t, std::less<>>::iterator;
    Share(KeyedAllowance* of, Place place) : of_(of), place_(place) {}
    KeyedAllowance* of_ = nullptr;
    Place place_ = {};
  };

  // False: this holder has as many as it may.
  Share take(const std::string& holder) {
    const std::lock_guard lock(mutex_);
    const auto place = used_.try_emplace(holder, 0).first;
    if (place->second == most_) return {};
    ++place->second;
    return Share(this, place);
  }

  std::size_t most() const { return most_; }

 private:
  void give_back(Share::Place place) {
    const std::lock_guard lock(mutex_);
    if (--place->second == 0) used_.erase(place);
  }

  const std::size_t most_;
  std::mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> used_;
};

}  // namespace ff::http
