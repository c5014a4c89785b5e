// The database and its requests: within bounds, the same for the same seed, and what one request does.
#include "tpcc.hpp"

#include <doctest/doctest.h>

namespace weft::apps::order {

TEST_CASE("order, tpcc: requests name what there is, half of them payments") {
  const sizes s{.warehouses = 3, .items = 50, .customers = 7, .transactions = 2000};
  const paged<request> all = make_requests(s, 9), again = make_requests(s, 9);
  std::size_t payments = 0, elsewhere = 0, lines = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const request& r = all[i];
    CHECK((r.warehouse < 3 && r.district / districts_per_warehouse == r.warehouse && r.customer / 7 == r.district));
    CHECK((r.is_payment == again[i].is_payment && r.customer == again[i].customer));
    payments += r.is_payment ? 1 : 0;
    CHECK((r.is_payment ? r.count == 0 : r.count >= 5 && r.count <= lines_max));
    for (std::size_t l = 0; l < r.count; ++l) {
      CHECK((r.lines[l].item < 50 && r.lines[l].supplier < 3 && r.lines[l].quantity >= 1));
      elsewhere += r.lines[l].supplier != r.warehouse ? 1 : 0;
      ++lines;
    }
  }
  CHECK(payments > 900);
  CHECK(payments < 1100);
  CHECK(elsewhere > 0);
  CHECK(elsewhere < lines / 50);
}

TEST_CASE("order, tpcc: an order and a payment, carried out") {
  const sizes s{.warehouses = 2, .items = 10, .customers = 2, .transactions = 2};
  request place{.warehouse = 1, .district = 11, .customer = 23, .count = 1};
  place.lines[0] = {4, 0, 3};
  const request pay{.is_payment = true, .warehouse = 1, .district = 11, .customer = 23, .amount = 500};
  database db = make_database(s, {place, pay}, 1);
  CHECK(db.orders_per_district == 1);
  const std::uint64_t there = db.stocks[4].quantity, price = db.prices[4];
  carry_out(db, place, 0, s.items);
  carry_out(db, pay, 1, s.items);
  CHECK(db.districts[11].orders == 1);
  CHECK((db.orders[11] == order_head{23, 1, 0}));
  CHECK((db.order_lines[11 * lines_max] == order_line{4, 0, 3, 3 * price}));
  CHECK((db.stocks[4] == stock{quantity_left(there, 3), 3, 1, 1}));
  CHECK((db.warehouses[1].paid == 500 && db.districts[11].paid == 500 && db.customers[23].paid == 500));
  CHECK((db.receipts[1] == receipt{23, 500, 0}));
  CHECK((db.receipts[0] == receipt{23, 0, db.warehouses[place.warehouse].tax}));
}

TEST_CASE("order, tpcc: stock is refilled before it gets low") {
  CHECK(quantity_left(20, 10) == 10);
  CHECK(quantity_left(19, 10) == 100);
  CHECK(quantity_left(10, 1) == 100);
  CHECK(quantity_left(100, 10) == 90);
}

}  // namespace weft::apps::order
