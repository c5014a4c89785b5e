"""Weft under the tools that programs have: joblib and scikit-learn, threadpoolctl, dask, asyncio."""
import asyncio
import multiprocessing
import operator
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import weftrt as wf

joblib = pytest.importorskip("joblib")
import weftrt.joblib  # noqa: E402


@pytest.fixture(params=[1, 2, 3])
def n_jobs(request):
    return request.param


def parallel(n_jobs, work, **more):
    return joblib.Parallel(n_jobs=n_jobs, backend="weft", **more)(work)


def test_results_in_order(n_jobs):
    assert parallel(n_jobs, (joblib.delayed(pow)(i, 2) for i in range(100))) == [i * i for i in range(100)]
    one_by_one = parallel(n_jobs, (joblib.delayed(pow)(i, 2) for i in range(30)), return_as="generator")
    assert list(one_by_one) == [i * i for i in range(30)]
    any_order = parallel(n_jobs, (joblib.delayed(pow)(i, 2) for i in range(30)), return_as="generator_unordered")
    assert sorted(any_order) == [i * i for i in range(30)]


def test_nested(n_jobs):
    def level(d):
        if d == 0:
            return 1
        return sum(joblib.Parallel(n_jobs=2)(joblib.delayed(level)(d - 1) for _ in range(3)))

    with joblib.parallel_config(backend="weft", n_jobs=n_jobs):
        assert joblib.Parallel()(joblib.delayed(level)(2) for _ in range(3)) == [9] * 3


def test_an_exception(n_jobs):
    def fails(i):
        if i == 5:
            raise KeyError(i)
        return i

    with pytest.raises(KeyError):
        parallel(n_jobs, (joblib.delayed(fails)(i) for i in range(20)))
    assert parallel(n_jobs, (joblib.delayed(abs)(i) for i in range(5))) == list(range(5))


def test_a_time_out():
    with pytest.raises(multiprocessing.TimeoutError):
        parallel(2, (joblib.delayed(time.sleep)(0.5) for _ in range(4)), timeout=0.05)


def test_as_many_at_once_as_jobs():
    now, most, lock = [0], [0], threading.Lock()

    def body():
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1

    parallel(3, (joblib.delayed(body)() for _ in range(20)))
    assert 2 <= most[0] <= 3


def test_numbers_of_jobs():
    with pytest.raises(ValueError):
        parallel(0, [])
    with joblib.parallel_config(backend="weft"):
        assert joblib.effective_n_jobs() == len(os.sched_getaffinity(0)) or joblib.effective_n_jobs() >= 1


def test_shared_memory():
    total = np.zeros(4)
    joblib.Parallel(n_jobs=2, backend="weft", require="sharedmem")(
        joblib.delayed(operator.setitem)(total, i, i + 1) for i in range(4))
    assert total.tolist() == [1, 2, 3, 4]


def test_what_is_loaded_later_finds_room():
    """Static storage of threads is scarce: libraries that are loaded after weftrt want theirs, too."""
    pytest.importorskip("sklearn")
    for program in ("import weftrt, sklearn.ensemble", "import sklearn.ensemble, weftrt"):
        subprocess.run([sys.executable, "-c", program], check=True)


def both(fit):
    results = []
    for backend in ("loky", "weft"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            results.append(fit())
    return results


def test_random_forest_is_lokys():
    ensemble = pytest.importorskip("sklearn.ensemble")
    datasets = pytest.importorskip("sklearn.datasets")
    x, y = datasets.make_classification(600, 12, random_state=1)

    def fit():
        forest = ensemble.RandomForestClassifier(30, random_state=1, n_jobs=2).fit(x, y)
        return forest.predict_proba(x), forest.feature_importances_

    a, b = both(fit)
    assert all(np.array_equal(p, q) for p, q in zip(a, b))


def test_grid_search_is_lokys():
    search = pytest.importorskip("sklearn.model_selection")
    ensemble = pytest.importorskip("sklearn.ensemble")
    svm = pytest.importorskip("sklearn.svm")
    datasets = pytest.importorskip("sklearn.datasets")
    x, y = datasets.make_classification(200, 8, random_state=2)
    for model, grid in [
        (svm.SVC(random_state=1), {"C": [0.1, 1, 10]}),
        (ensemble.RandomForestClassifier(5, n_jobs=2, random_state=1), {"max_depth": [2, 4]}),
        (ensemble.HistGradientBoostingClassifier(max_iter=5, random_state=1), {"max_leaf_nodes": [4, 8]}),
    ]:
        a, b = both(lambda: search.GridSearchCV(model, grid, cv=3).fit(x, y).cv_results_["mean_test_score"])
        assert np.array_equal(a, b)


def test_joblibs_own_tests(tmp_path):
    """Those of its tests of Parallel that take any backend; other backends' processes have not registered this one."""
    theirs = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "weftrt.joblib", "--pyargs",
              "joblib.test.test_parallel", "-k",
              "weft and not loky-weft and not multiprocessing-weft and not back_compat_backend-weft"]
    done = subprocess.run(theirs, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-4000:]
    assert int(done.stdout.split(" passed")[0].split()[-1]) >= 70


def test_threadpoolctl_shows_and_limits():
    control = pytest.importorskip("threadpoolctl")
    import weftrt.threadpoolctl  # noqa: F401

    mine = [row for row in control.threadpool_info() if row["internal_api"] == "weft"]
    assert len(mine) == 1 and mine[0]["version"] == wf.__version__ and mine[0]["user_api"] == "tasks"
    before = mine[0]["num_threads"]
    with control.threadpool_limits(1, user_api="tasks"), wf.Runtime() as rt:
        assert rt.workers == 1
    with wf.Runtime() as rt:
        assert rt.workers == before
    with control.threadpool_limits(1, user_api="tasks"), wf.Runtime(2) as rt:
        assert rt.workers == 2


def test_dask_pool():
    dask = pytest.importorskip("dask")

    @dask.delayed
    def add(x, y):
        return x + y

    total = add(0, 0)
    for i in range(50):
        total = add(total, add(i, 1))
    with wf.Executor(2) as pool, dask.config.set(pool=pool, scheduler="threads"):
        assert total.compute() == sum(range(50)) + 50
        assert sum(dask.compute(*[add(i, i) for i in range(20)])) == 380


def test_xarray_by_dask():
    dask, xarray = pytest.importorskip("dask"), pytest.importorskip("xarray")
    pytest.importorskip("dask.array")
    x = xarray.DataArray(np.arange(10_000.0).reshape(100, 100), dims=("a", "b")).chunk({"a": 10, "b": 50})
    with wf.Executor(2) as pool, dask.config.set(pool=pool, scheduler="threads"):
        assert float(((x - x.mean()) ** 2).sum().compute()) == pytest.approx(np.var(np.arange(10_000.0)) * 10_000)


def test_asyncio_waits_and_cancels():
    async def main(rt):
        gate = threading.Event()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(rt.submit(gate.wait), 0.05)
        gate.set()
        h = wf.handle([0])
        done = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.01, done.set_result, 7)
        rt.submit(list.append, wf.write(h), await done)  # an event of the loop
        return await rt.submit(len, wf.read(h))

    with wf.Runtime(1) as rt:
        assert asyncio.run(main(rt)) == 2


def test_asyncio_runs_in_the_executor():
    async def main():
        loop = asyncio.get_running_loop()
        with wf.Executor(2) as pool:
            return await asyncio.gather(*(loop.run_in_executor(pool, pow, i, 2) for i in range(10)))

    assert asyncio.run(main()) == [i * i for i in range(10)]


def test_a_runtime_inside_each_process_of_another_tool():
    def work(n):
        with wf.Runtime(1) as rt:
            return rt.submit(pow, n, 2).result()

    assert joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(work)(i) for i in range(4)) == [0, 1, 4, 9]
