// A small TPC-C for the program silo: warehouses with districts, customers and stock, and two of its five transactions,
// which are nine of ten: an order is placed, a payment is made. A tuple lies on cache lines of its own. Money is cents.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "paged.hpp"

namespace weft::apps::order {

constexpr std::size_t lines_max = 15;  // of an order; at least 5
constexpr std::size_t districts_per_warehouse = 10;

// The word that optimistic transactions keep with each tuple (optimistic.hpp), in what is left of its line. It is no
// part of what a table says: all are equal.
struct tid_word {
  std::uint64_t value = 0;
  friend bool operator==(const tid_word&, const tid_word&) noexcept { return true; }
};

struct alignas(64) warehouse {
  std::uint64_t paid = 0;
  std::uint64_t tax = 0;  // ten thousandths; never written, but in the tuple that payments write
  tid_word tid = {};
  friend bool operator==(const warehouse&, const warehouse&) = default;
};
struct alignas(64) district {
  std::uint64_t paid = 0;
  std::uint64_t orders = 0;  // so far
  tid_word tid = {};
  friend bool operator==(const district&, const district&) = default;
};
struct alignas(64) customer {
  std::uint64_t owes = 0;
  std::uint64_t paid = 0;
  std::uint64_t payments = 0;
  tid_word tid = {};
  friend bool operator==(const customer&, const customer&) = default;
};
struct alignas(64) stock {
  std::uint64_t quantity = 0;
  std::uint64_t sold = 0;
  std::uint64_t orders = 0;
  std::uint64_t from_elsewhere = 0;
  tid_word tid = {};
  friend bool operator==(const stock&, const stock&) = default;
};
struct alignas(64) order_head {
  std::uint64_t customer = 0;
  std::uint64_t lines = 0;
  std::uint64_t transaction = 0;
  tid_word tid = {};
  friend bool operator==(const order_head&, const order_head&) = default;
};
struct alignas(64) order_line {
  std::uint64_t item = 0;
  std::uint64_t supplier = 0;  // a warehouse
  std::uint64_t quantity = 0;
  std::uint64_t amount = 0;
  tid_word tid = {};
  friend bool operator==(const order_line&, const order_line&) = default;
};
struct alignas(64) receipt {
  std::uint64_t customer = 0;
  std::uint64_t amount = 0;  // of a payment
  std::uint64_t tax = 0;     // of an order
  tid_word tid = {};
  friend bool operator==(const receipt&, const receipt&) = default;
};

struct sizes {
  std::size_t warehouses = 4;
  std::size_t items = 1000;
  std::size_t customers = 300;  // of a district
  std::size_t transactions = 1000;
  [[nodiscard]] std::size_t districts() const noexcept { return warehouses * districts_per_warehouse; }
};

// What a terminal asks for.
struct request {
  struct line {
    std::uint64_t item;
    std::uint64_t supplier;
    std::uint64_t quantity;
  };
  bool is_payment = false;
  std::uint64_t warehouse = 0;
  std::uint64_t district = 0;  // of all
  std::uint64_t customer = 0;  // of all
  std::uint64_t amount = 0;    // of a payment
  std::uint64_t count = 0;     // of lines
  line lines[lines_max] = {};
};

struct database {
  paged<warehouse> warehouses;
  paged<district> districts;
  paged<customer> customers;
  paged<stock> stocks;            // of each warehouse all items
  paged<std::uint64_t> prices;    // of items; never written
  paged<order_head> orders;       // of each district so many
  paged<order_line> order_lines;  // of each of these so many as there can be
  paged<receipt> receipts;        // of each transaction one
  std::size_t orders_per_district = 0;
};

[[nodiscard]] database make_database(const sizes& s, const paged<request>& requests, std::uint64_t seed);
// One of two a payment, as in the benchmark; one item of a hundred comes from another warehouse.
[[nodiscard]] paged<request> make_requests(const sizes& s, std::uint64_t seed);

// The transaction as a plain function: the reference.
void carry_out(database& db, const request& r, std::uint64_t number, std::size_t items);

// Instructions beside the loads and stores. Finding a tuple means going down a tree over its table; the paper has no
// numbers for this program but that bodies take up to a few thousand instructions.
constexpr std::uint64_t body_instructions = 600, level_instructions = 180;
[[nodiscard]] constexpr std::uint64_t find_instructions(std::size_t tuples) noexcept {
  return body_instructions + level_instructions * static_cast<std::uint64_t>(std::bit_width(tuples));
}

// What is left of an item that was ordered: as the benchmark has it, stock is refilled before it gets low.
[[nodiscard]] constexpr std::uint64_t quantity_left(std::uint64_t there, std::uint64_t ordered) noexcept {
  return there >= ordered + 10 ? there - ordered : there + 91 - ordered;
}

}  // namespace weft::apps::order
