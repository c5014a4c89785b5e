// What a run looked like, afterwards: a picture of it shows the names of tasks and of data. This factors a matrix of
// 2 x 2 tiles of one number each. Record it with WEFT_TRACE=run.weft, then `weft export run.weft --format dot`.
#include <weft/weft.hpp>

#include <cmath>
#include <cstdio>

int main() {
  weft::runtime rt;
  weft::handle<double> a00{4.0}, a10{2.0}, a11{5.0};
  a00.name("a00");
  a10.name("a10");
  a11.name("a11");

  const auto potrf = [](double& d) { d = std::sqrt(d); };
  rt.submit(weft::write(a00), weft::named("potrf"), weft::cost(1'000), potrf);
  rt.submit(weft::read(a00), weft::write(a10), weft::named("trsm"), weft::cost(3'000),
            [](const double& d, double& x) { x /= d; });
  rt.submit(weft::read(a10), weft::write(a11), weft::named("syrk"), weft::cost(3'000),
            [](const double& x, double& d) { d -= x * x; });
  rt.submit(weft::write(a11), weft::named("potrf"), weft::cost(1'000), potrf);
  rt.submit(weft::read(a00), weft::read(a10), weft::read(a11), weft::named("print"),
            [](const double& x, const double& y, const double& z) { std::printf("%g\n%g %g\n", x, y, z); });
  rt.wait();
}
