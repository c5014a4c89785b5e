// The out-of-line half of weft/team.hpp.
#include "weft/team.hpp"
#include "weft/team_graph.hpp"

#include "base/printable.hpp"
#include "runtime/teams.hpp"
#include "weft/detail/worker.hpp"

namespace weft::detail {

std::string name_of(const team_state& t) {
  return t.task->name != nullptr ? "team '" + base::printable(t.task->name) + "'" : std::string("an unnamed team");
}

void throw_bad_edge(std::uint32_t units, std::uint32_t earlier, std::uint32_t later) {
  throw error("weft: a team_graph of " + std::to_string(units) + " units has an edge from unit " +
              std::to_string(earlier) + " to unit " + std::to_string(later));
}

void throw_circle(const std::vector<std::uint32_t>& from, std::uint32_t at) {
  std::string circle = std::to_string(at);
  for (std::uint32_t i = from[at]; i != at; i = from[i]) circle = std::to_string(i) + ", " + circle;
  throw error("weft: the units " + circle + " of a team_graph each come after the one before, and the first after " +
              "the last, so none of them could begin");
}

void throw_bad_team(std::uint64_t least, std::uint64_t most) {
  if (most == 0 || least == 0) throw error("weft: a team of 0 workers cannot run; give it at least 1");
  throw error("weft: a team of at least " + std::to_string(least) + " and at most " + std::to_string(most) +
              " workers cannot be; the first number must not be the greater one");
}

void throw_team_failed(const team_state& t) {
  throw team_error("weft: another member of " + name_of(t) + " has failed");
}

void throw_member_gone(const team_state& t, unsigned rank) {
  throw error("weft: member " + std::to_string(rank) + " of " + name_of(t) +
              " has left before a reduce, a scan or a broadcast of the others; all members call these");
}

bool team_barrier(team_state& t) { return t.engine->team_barrier(t); }

std::uint64_t team_take(team_state& t, std::uint64_t count, std::uint64_t least, bool guided, std::uint64_t& taken) {
  return t.engine->team_take(t, count, least, guided, taken);
}

std::uint32_t team_unit(team_state& t, const unit_order& order, std::uint32_t done) {
  return t.engine->team_unit(t, order, done);
}

}  // namespace weft::detail
