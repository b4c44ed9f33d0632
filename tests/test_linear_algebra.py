import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import maskedadv
from maskedadv.linear_algebra import one_thread


def threads() -> set[int]:
    np.linalg.inv(np.eye(2))  # what has the threads is loaded
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def unasked(monkeypatch):
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("unasked")
def test_linear_algebra_has_one_thread_inside_and_as_many_as_before_outside():
    with threadpool_limits(2, user_api="blas"):
        assert threads() == {2}
        assert one_thread(threads)() == {1}
        assert threads() == {2}


@pytest.mark.usefixtures("unasked")
def test_errors_leave_the_threads_as_they_were():
    @one_thread
    def fail():
        raise KeyError("x")

    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(KeyError):
            fail()
        assert threads() == {2}


@pytest.mark.usefixtures("unasked")
def test_who_says_how_many_gets_so_many(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with threadpool_limits(2, user_api="blas"):
        assert one_thread(threads)() == {2}


@pytest.mark.usefixtures("unasked")
def test_a_fit_from_python_runs_with_one_thread():
    seen: list[set[int]] = []
    with threadpool_limits(2, user_api="blas"):
        maskedadv.fit(
            maskedadv.datasets.global_mmlu_lite(), locale=["zh"], progress=lambda _: seen.append(threads())
        )
        assert threads() == {2}
    assert seen
    assert all(own == {1} for own in seen)
