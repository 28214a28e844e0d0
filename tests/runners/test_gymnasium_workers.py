"""What a worker keeps, in which thread, and how it asks a policy."""

from __future__ import annotations

import threading

import pytest

from surefoot.runners.gymnasium_workers import Acting, Worker


class Env:
    def __init__(self, breaks=False):
        self.breaks, self.closed_in = breaks, []

    def close(self):
        self.closed_in.append(threading.current_thread().name)
        if self.breaks:
            raise RuntimeError("no context")


def test_all_jobs_run_in_one_thread_and_it_closes_what_was_made_there():
    worker, env = Worker(), Env()
    first, second = (worker.begin(threading.current_thread).result(5) for _ in range(2))
    assert first is second is not threading.current_thread()
    worker.envs["lift"] = env
    worker.close()
    first.join(5)
    assert not first.is_alive()
    assert (env.closed_in, worker.envs) == ([first.name], {})


def test_without_a_thread_of_its_own_it_closes_here():
    worker, env = Worker(), Env(breaks=True)
    worker.envs[""] = env
    worker.close()
    assert env.closed_in == [threading.current_thread().name]


def test_what_a_job_raises_comes_back_and_the_next_one_runs():
    worker = Worker()

    def breaks():
        raise KeyError("goal")

    with pytest.raises(KeyError, match="goal"):
        worker.begin(breaks).result(5)
    assert worker.begin(lambda: 3).result(5) == 3
    worker.close()


def test_dropping_what_is_not_there_is_nothing():
    Worker().drop("lift")


def test_a_policy_is_asked_by_what_it_has():
    class Policy:
        def act(self, observation):
            return "act", observation

        def __call__(self, observation):
            return "call", observation

    assert Acting(Policy(), 1)(7) == ("act", 7)
    assert Acting(lambda observation: observation + 1, 1)(7) == 8
    assert Acting(dict, 1)([(1, 2)]) == {1: 2}


def test_only_what_predicts_gives_its_state_back():
    class Predicts:
        def predict(self, observation):
            return [observation, 1]

    class Acts:
        def act(self, observation):
            return (0.5, 0.25)

    assert Acting(Predicts(), 1)(7) == [7, 1]
    acting = Acting(Acts(), 1)
    assert acting(7) == acting(8) == (0.5, 0.25)


def test_a_reset_gets_the_seed_if_it_takes_one():
    told = []

    class Plain:
        def reset(self):
            told.append(())

    class Seeded:
        def reset(self, seed):
            told.append(seed)

    class Unsigned:
        reset = dict  # a built-in without a signature

    for policy in (Plain(), Seeded(), Unsigned()):
        Acting(policy, 5)
    assert told == [(), 5]
