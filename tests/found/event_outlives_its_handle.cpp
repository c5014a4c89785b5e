// An event that failed when the handle of its task was gone, which is possible behind a stall, was a jump to address 0:
// the task was to poison what it writes. Right: the failure is told, and nobody looks for the handle.
// Workers: 1 2
#include <exception>
#include <stdexcept>
#include <string>
#include <weft/weft.hpp>

#include "found.hpp"
#include "thrown.hpp"

int main() {
  for (const bool fails : {false, true}) {
    weft::event late("late");
    weft::handle<int> kept;
    weft::runtime rt({.machine = "virtual"});  // there a wait that nothing can end is ended
    {
      weft::handle<int> goes;
      rt.submit(weft::write(kept), weft::write(goes), weft::completes(late), [](int& x, int& y) { x = y = 1; });
      require(thrown([&] { rt.wait(); }).find("'late'") != std::string::npos, "no stall is told");
    }
    fails ? late.fail(std::make_exception_ptr(std::runtime_error("lost"))) : late.fulfil();
    const std::string told = thrown([&] { rt.wait(); });
    require(told == (fails ? "lost" : ""), in_words("the wait throws '", told, "'"));
    require(fails || rt.get(kept) == 1, "the task's other handle");
  }
}
