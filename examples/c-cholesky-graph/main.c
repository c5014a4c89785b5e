/* Tiled Cholesky factorisation in C, with its arithmetic: A = L L^T, tile by tile. Each task says which tiles it reads
 * and writes, and that is all the order there is. It runs on machines of 1 to 16 modelled cores; the factor is checked
 * each time, and the times follow from the costs that the tasks state. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { tiles = 8, b = 32, n = tiles * b }; /* tiles per side, rows of a tile, rows of the matrix */

typedef double tile[b][b];

static const double flop_ns = 0.1; /* one operation at 10 GFlop/s */
static const double b3 = (double)b * b * b;

/* --- the bodies: data[i] is what the i-th access names */

static void potrf(void* argument, void** data) {
  double(*a)[b] = data[0];
  int i, j, k;
  (void)argument;
  for (j = 0; j < b; ++j) {
    for (k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    if (!(a[j][j] > 0)) {
      weft_fail("the matrix is not positive definite");
      return;
    }
    a[j][j] = sqrt(a[j][j]);
    for (i = j + 1; i < b; ++i) {
      for (k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
    for (i = 0; i < j; ++i) a[i][j] = 0;
  }
}

static void trsm(void* argument, void** data) {
  double(*l)[b] = data[0];
  double(*a)[b] = data[1];
  int i, j, k;
  (void)argument;
  for (i = 0; i < b; ++i)
    for (j = 0; j < b; ++j) {
      for (k = 0; k < j; ++k) a[i][j] -= a[i][k] * l[j][k];
      a[i][j] /= l[j][j];
    }
}

static void update(void* argument, void** data) { /* c -= x y^T */
  double(*x)[b] = data[0];
  double(*y)[b] = data[1];
  double(*c)[b] = data[2];
  int i, j, k;
  (void)argument;
  for (i = 0; i < b; ++i)
    for (j = 0; j < b; ++j)
      for (k = 0; k < b; ++k) c[i][j] -= x[i][k] * y[j][k];
}

/* --- the program */

static void check(int status) {
  if (status == WEFT_OK) return;
  fprintf(stderr, "%s\n", weft_last_error());
  exit(1);
}

static void submit(weft_runtime* rt, const char* name, weft_body body, double flops, const weft_access* accesses,
                   size_t count) {
  weft_task t = {.size = sizeof t};
  t.name = name;
  t.body = body;
  t.cost_ns = flops * flop_ns;
  t.accesses = accesses;
  t.access_count = count;
  check(weft_submit(rt, &t));
}

static void submit_factorisation(weft_runtime* rt, weft_handle* a[tiles][tiles]) {
  int i, j, k;
  for (k = 0; k < tiles; ++k) {
    const weft_access diagonal[] = {weft_write(a[k][k])};
    submit(rt, "potrf", potrf, b3 / 3, diagonal, 1);
    for (i = k + 1; i < tiles; ++i) {
      const weft_access panel[] = {weft_read(a[k][k]), weft_write(a[i][k])};
      submit(rt, "trsm", trsm, b3, panel, 2);
    }
    for (i = k + 1; i < tiles; ++i)
      for (j = k + 1; j <= i; ++j) { /* for i == j one handle is named twice: it counts once */
        const weft_access rest[] = {weft_read(a[i][k]), weft_read(a[j][k]), weft_write(a[i][j])};
        submit(rt, i == j ? "syrk" : "gemm", update, (i == j ? 1 : 2) * b3, rest, 3);
      }
  }
}

static double element(int i, int j) { return 1.0 / (1 + abs(i - j)) + (i == j ? n : 0); }

static tile matrix[tiles][tiles]; /* the lower half is used */

static double* at(int i, int j) { return &matrix[i / b][j / b][i % b][j % b]; }

/* The largest element of A - L L^T. */
static double residual(void) {
  double worst = 0;
  int i, j, k;
  for (i = 0; i < n; ++i)
    for (j = 0; j <= i; ++j) {
      double sum = 0;
      for (k = 0; k <= j; ++k) sum += *at(i, k) * *at(j, k);
      worst = fmax(worst, fabs(element(i, j) - sum));
    }
  return worst;
}

/* Gives the time on the modelled machine. */
static double factor_us(unsigned workers) {
  weft_options options = {.size = sizeof options};
  weft_runtime* rt;
  weft_handle* a[tiles][tiles];
  double us;
  int i, j;
  options.machine = "virtual";
  options.workers = workers;
  rt = weft_runtime_create(&options);
  if (rt == NULL) check(WEFT_MISUSE);
  for (i = 0; i < n; ++i)
    for (j = 0; j <= i; ++j) *at(i, j) = element(i, j);
  for (i = 0; i < tiles; ++i)
    for (j = 0; j <= i; ++j) a[i][j] = weft_handle_create(matrix[i][j]);
  submit_factorisation(rt, a);
  check(weft_wait(rt));
  us = weft_now_ns(rt) / 1000;
  for (i = 0; i < tiles; ++i)
    for (j = 0; j <= i; ++j) check(weft_handle_destroy(a[i][j]));
  check(weft_runtime_destroy(rt));
  return us;
}

int main(void) {
  const unsigned workers[] = {1, 2, 4, 16};
  const double alone = factor_us(1);
  size_t i;
  printf("workers  time/us  speed-up  A = L L^T\n");
  for (i = 0; i < sizeof workers / sizeof *workers; ++i) {
    const double us = factor_us(workers[i]);
    printf("%7u %8.1f %9.2f  %s\n", workers[i], us, alone / us, residual() < 1e-12 * n ? "yes" : "no");
  }
  return 0;
}
