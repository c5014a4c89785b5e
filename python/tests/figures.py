"""What weftrt costs beside others, in turns, each the least of some rounds. usage: figures.py [rows of the matrix]

Wants numpy, dask, joblib and scikit-learn beside weftrt; python/README.md has a result.
"""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import dask
import joblib
import numpy as np
import weftrt.joblib
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import weftrt as wf

BLOCKS = 8


def least(title: str, rounds: int, **programs: Callable[[], object]) -> None:
    seconds = dict.fromkeys(programs, float("inf"))
    for _ in range(rounds):
        for name, program in programs.items():
            begin = time.perf_counter()
            program()
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
    print(title)
    for name, s in seconds.items():
        print(f"  {name:20s} {s:9.4f} s", flush=True)


def empty_functions(n: int) -> None:
    def weft() -> None:
        for _ in range(n):
            rt.submit(int)
        rt.wait()

    def standard() -> None:
        for f in [pool.submit(int) for _ in range(n)]:
            f.result()

    with wf.Runtime(2) as rt, ThreadPoolExecutor(2) as pool:
        least(f"{n} empty functions", 5, weft=weft, ThreadPoolExecutor=standard)


def add_one(view: np.ndarray) -> None:
    view += 1


def dependent(n: int) -> None:
    views = list(np.zeros((10, 10)))

    def weft() -> None:
        handles = [wf.handle(v) for v in views]
        for i in range(n):
            rt.submit(add_one, wf.write(handles[i % 10]))
        rt.wait()

    def delayed() -> None:
        step = dask.delayed(lambda before, v: add_one(v))
        last: list[object] = [None] * 10
        for i in range(n):
            last[i % 10] = step(last[i % 10], views[i % 10])
        dask.compute(*last, scheduler="threads", num_workers=2)

    with wf.Runtime(2) as rt:
        least(f"{n} tasks in ten chains on views", 2, weft=weft, dask_delayed=delayed)


def forest() -> None:
    x, y = make_classification(4000, 20, random_state=1)

    def by(backend: str) -> Callable[[], object]:
        def fit() -> None:
            with joblib.parallel_config(backend=backend, n_jobs=2):
                RandomForestClassifier(60, random_state=1, n_jobs=2).fit(x, y)

        return fit

    least("RandomForest of 60 trees", 3, **{name: by(name) for name in ("weft", "loky", "threading")})

    def search(backend: str) -> Callable[[], object]:
        def fit() -> None:
            with joblib.parallel_config(backend=backend, n_jobs=2):
                grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}
                GridSearchCV(SVC(random_state=1), grid, cv=3).fit(x[:1500], y[:1500])

        return fit

    least("GridSearchCV of 18 fits of an SVC", 3, **{name: search(name) for name in ("weft", "loky", "threading")})


def potrf(a: np.ndarray) -> None:
    a[:] = np.linalg.cholesky(a)


def trsm(diagonal: np.ndarray, a: np.ndarray) -> None:
    a[:] = np.linalg.solve(diagonal, a.T).T


def gemm(left: np.ndarray, right: np.ndarray, a: np.ndarray) -> None:
    a -= left @ right.T


def cholesky(n: int) -> None:
    matrix = np.random.default_rng(0).random((n, n))
    matrix = matrix @ matrix.T + n * np.eye(n)
    b = n // BLOCKS

    def weft() -> np.ndarray:
        h = {(i, j): wf.handle(matrix[i * b : (i + 1) * b, j * b : (j + 1) * b].copy())
             for i in range(BLOCKS) for j in range(i + 1)}
        with wf.Runtime(2) as rt:
            for k in range(BLOCKS):
                rt.submit(potrf, wf.write(h[k, k]))
                for i in range(k + 1, BLOCKS):
                    rt.submit(trsm, wf.read(h[k, k]), wf.write(h[i, k]))
                for i in range(k + 1, BLOCKS):
                    for j in range(k + 1, i + 1):
                        rt.submit(gemm, wf.read(h[i, k]), wf.read(h[j, k]), wf.write(h[i, j]))
        return h[BLOCKS - 1, 0].unguarded

    assert np.allclose(weft(), np.linalg.cholesky(matrix)[-b:, :b])
    least(f"Cholesky of {n} rows", 3, weft=weft, numpy=lambda: np.linalg.cholesky(matrix))


if __name__ == "__main__":
    empty_functions(20_000)
    dependent(20_000)
    forest()
    cholesky(int(sys.argv[1]) if len(sys.argv) > 1 else 2048)
