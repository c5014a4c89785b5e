#include "tpcc.hpp"

#include <algorithm>

#include "random.hpp"

namespace weft::apps::order {

database make_database(const sizes& s, const paged<request>& requests, std::uint64_t seed) {
  random_numbers random(seed);
  database db;
  db.warehouses.resize(s.warehouses);
  db.districts.resize(s.districts());
  db.customers.resize(s.districts() * s.customers);
  db.stocks.resize(s.warehouses * s.items);
  for (stock& k : db.stocks) k.quantity = random.between(10, 100);
  for (std::size_t i = 0; i < s.items; ++i) db.prices.push_back(random.between(100, 10'000));
  std::vector<std::size_t> of_district(s.districts());
  for (const request& r : requests)
    if (!r.is_payment) db.orders_per_district = std::max(db.orders_per_district, ++of_district[r.district]);
  db.orders.resize(s.districts() * db.orders_per_district);
  db.order_lines.resize(db.orders.size() * lines_max);
  db.receipts.resize(requests.size());
  for (warehouse& w : db.warehouses) w.tax = random.below(2001);
  return db;
}

paged<request> make_requests(const sizes& s, std::uint64_t seed) {
  random_numbers random(seed + 1);
  paged<request> all(s.transactions);
  for (request& r : all) {
    r.warehouse = random.below(s.warehouses);
    r.district = r.warehouse * districts_per_warehouse + random.below(districts_per_warehouse);
    r.customer = r.district * s.customers + random.below(s.customers);
    r.is_payment = random.below(2) == 0;
    if (r.is_payment) {
      r.amount = random.between(100, 500'000);
      continue;
    }
    r.count = random.between(5, lines_max);
    for (std::size_t i = 0; i < r.count; ++i) {
      const bool is_from_elsewhere = random.below(100) == 0;
      const std::uint64_t supplier = is_from_elsewhere ? random.below(s.warehouses) : r.warehouse;
      r.lines[i] = {random.below(s.items), supplier, random.between(1, 10)};
    }
  }
  return all;
}

void carry_out(database& db, const request& r, std::uint64_t number, std::size_t items) {
  if (r.is_payment) {
    db.warehouses[r.warehouse].paid += r.amount;
    db.districts[r.district].paid += r.amount;
    customer& who = db.customers[r.customer];
    who.owes -= r.amount;
    who.paid += r.amount;
    who.payments += 1;
    db.receipts[number] = {r.customer, r.amount, 0};
    return;
  }
  const std::uint64_t place = r.district * db.orders_per_district + db.districts[r.district].orders++;
  db.orders[place] = {r.customer, r.count, number};
  db.receipts[number] = {r.customer, 0, db.warehouses[r.warehouse].tax};
  for (std::size_t i = 0; i < r.count; ++i) {
    const request::line& l = r.lines[i];
    stock& k = db.stocks[l.supplier * items + l.item];
    k.quantity = quantity_left(k.quantity, l.quantity);
    k.sold += l.quantity;
    k.orders += 1;
    if (l.supplier != r.warehouse) k.from_elsewhere += 1;
    db.order_lines[place * lines_max + i] = {l.item, l.supplier, l.quantity, l.quantity * db.prices[l.item]};
  }
}

}  // namespace weft::apps::order
