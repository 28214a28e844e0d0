"""Every format people have, read from a small file made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import surefoot as sf
from tests import samples
from tests.samples import FIXTURES, put

ROLLOUT_FILES = sorted(name for name in samples.all_files() if name != "preferences.csv")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for name, content in samples.all_files().items():
        put(folder, name, content)
    return folder


def tallies(rollouts: sf.Rollouts, *by: str) -> dict[tuple[str | None, ...], tuple[int, int]]:
    return {group.key: (group.successes, group.outcomes) for group in rollouts.summary(by=by or ("policy",))}


@pytest.mark.parametrize("name", ROLLOUT_FILES)
def test_conformance(made: Path, name: str) -> None:
    """What holds for every importer."""
    rollouts = sf.read(made / name)
    assert len(rollouts) > 0
    assert rollouts.policies
    assert {"success", "score"} & set(rollouts.columns)
    assert rollouts.source == Path(name).name
    assert rollouts.hash.startswith("sha256:")
    assert rollouts.hash == sf.read(made / name).hash
    assert all(str(note).endswith(".") for note in rollouts.notes)
    known = sum(group.outcomes + group.scored for group in rollouts.summary())
    assert known > 0
    assert rollouts.polars().height == len(rollouts)
    assert sf.audit(rollouts).rollouts == len(rollouts)


@pytest.mark.parametrize("name", ROLLOUT_FILES)
def test_the_name_does_not_matter(made: Path, tmp_path: Path, name: str) -> None:
    moved = put(tmp_path, "renamed.dat", (made / name).read_bytes())
    mine, theirs = sf.read(made / name), sf.read(moved)
    assert len(mine) == len(theirs)
    assert sum(g.successes for g in mine.summary()) == sum(g.successes for g in theirs.summary())


def test_lerobot() -> None:
    rollouts = sf.read(FIXTURES / "lerobot" / "eval_info.json")
    assert rollouts.policies == ("lerobot",)
    assert tallies(rollouts, "task") == {("libero_10/0",): (3, 4), ("libero_10/1",): (1, 4)}
    assert rollouts.where(task="libero_10/1").scores().values == (0.5, 0.0, 1.0, 0.125)
    assert rollouts.column("reward").count(None) == 1
    assert any("same --seed" in note for note in rollouts.notes)
    assert rollouts.findings == ()


def test_lerobot_older_shape_has_seeds() -> None:
    rollouts = sf.read(FIXTURES / "lerobot_old" / "eval_info.json", policy="act")
    assert rollouts.policies == ("act",)
    assert rollouts.column("seed") == ("1000", "1001", "1002")
    assert str(rollouts.tally()) == "2 of 3 rollouts succeeded."


def test_lerobot_total_that_disagrees_is_found(tmp_path: Path) -> None:
    text = (
        (FIXTURES / "lerobot" / "eval_info.json")
        .read_text()
        .replace(
            '"pc_success": 50.0, "n_episodes": 8, "n_success": 4, "pc_success_ci95"',
            '"pc_success": 62.5, "pc_success_ci95"',
        )
    )
    found = sf.read(put(tmp_path, "act.json", text)).findings
    assert [finding.about for finding in found] == ["own totals disagree"]
    assert "62.5" in found[0].says
    assert "50" in found[0].says


def test_lerobot_reward_beyond_one_is_no_score(tmp_path: Path) -> None:
    text = (
        (FIXTURES / "lerobot" / "eval_info.json").read_text().replace("[1.0, 0.25, 1.0, 1.0]", "[5.0, 0.25, 1.0, 1.0]")
    )
    rollouts = sf.read(put(tmp_path, "act.json", text))
    assert "score" not in rollouts.columns
    with pytest.raises(sf.DataError, match="there must be a `score` column"):
        rollouts.scores()


@pytest.mark.parametrize("name", ["inspect/log.json", "deflate.eval", "zstd.eval", "frames.eval"])
def test_inspect(made: Path, name: str) -> None:
    rollouts = sf.read(made / name)
    assert rollouts.policies == ("acme/small",)
    assert rollouts.tasks == ("arithmetic",)
    assert tallies(rollouts) == {("acme/small",): (3, 5)}
    assert tallies(rollouts, "cluster") == {("1",): (1, 2), ("3",): (0, 1), ("two",): (2, 2)}
    assert "timeout" in rollouts.column("failure")
    other = sf.read(made / name, columns={"score": "score:style", "cluster": "metadata:user"})
    assert other.scores().values == (0.75, 0.5)
    assert other.names("cluster") == ("ann", "bob", "cle")


def test_an_unfinished_inspect_log_has_only_its_journal(tmp_path: Path) -> None:
    members = {name: body for name, body in samples.inspect_members().items() if name.startswith("_journal")}
    rollouts = sf.read(put(tmp_path, "log.eval", samples.deflated(members)))
    assert tallies(rollouts) == {("acme/small",): (3, 4)}
    assert any("did not finish" in note for note in rollouts.notes)


def test_inspect_samples_without_summaries(tmp_path: Path) -> None:
    members = {name: body for name, body in samples.inspect_members().items() if name != "summaries.json"}
    assert tallies(sf.read(put(tmp_path, "log.eval", samples.deflated(members)))) == {("acme/small",): (3, 5)}


def test_inspect_duplicate_ids_are_refused(tmp_path: Path) -> None:
    text = (FIXTURES / "inspect" / "log.json").read_text().replace('"id": 1, "epoch": 2', '"id": 1, "epoch": 1')
    with pytest.raises(sf.DataError, match=r"log.json, row 2: sample id and epoch must not repeat; got 1, 1 twice"):
        sf.read(put(tmp_path, "log.json", text))


def test_inspect_partial_and_odd_grades(tmp_path: Path) -> None:
    text = (FIXTURES / "inspect" / "log.json").read_text().replace('{"value": "I", "answer": "3"}', '{"value": "P"}')
    rollouts = sf.read(put(tmp_path, "log.json", text))
    assert rollouts.scores().values == (1.0, 0.5, 1.0, 1.0, 0.0)
    with pytest.raises(sf.DataError, match=r"must be C, I, P, N or a number; got 'Q'"):
        sf.read(put(tmp_path, "log.json", text.replace('"value": "P"', '"value": "Q"')))


def test_lm_eval_samples() -> None:
    path = next((FIXTURES / "lm_eval").glob("samples_*"))
    rollouts = sf.read(path)
    assert rollouts.tasks == ("gsm8k",)
    assert rollouts.policies == ("lm_eval",)
    assert str(rollouts.tally()) == "1 of 2 rollouts succeeded."
    assert rollouts.column("condition") == ("h0", "h1")
    assert any("'flexible-extract' are left out" in note for note in rollouts.notes)


def test_lm_eval_results_are_counts() -> None:
    rollouts = sf.read(next((FIXTURES / "lm_eval").glob("results_*")))
    assert rollouts.policies == ("acme/small",)
    assert tallies(rollouts, "task") == {("gsm8k",): (5, 8), ("hellaswag",): (2, 7)}
    assert not rollouts.ordered
    assert [finding.about for finding in rollouts.findings] == ["a rate that n cannot give"]
    assert any("wikitext" in note for note in rollouts.notes)


def test_a_folder_with_samples_and_totals_counts_nothing_twice() -> None:
    rollouts = sf.read(FIXTURES / "lm_eval")
    assert len(rollouts) == 2
    assert any("totals only" in note for note in rollouts.notes)


def test_vla_eval() -> None:
    rollouts = sf.read(FIXTURES / "vla" / "octo.json")
    assert rollouts.policies == ("octo",)
    assert tallies(rollouts, "task") == {("open the drawer",): (1, 1), ("pick up the bowl",): (1, 2)}
    assert rollouts.column("failure").count("timeout") == 1
    assert rollouts.names("seed") == ("7",)


def test_inspect_robots() -> None:
    rollouts = sf.read(FIXTURES / "inspect_robots" / "log.json")
    assert rollouts.policies == ("pi0",)
    assert rollouts.scores().values == (1.0, 0.25, 0.5, 0.5)
    assert rollouts.names("cluster") == ("s1", "s2")
    assert rollouts.names("repeat") == ("1", "2")


def test_stable_baselines_checkpoints_are_policies(made: Path) -> None:
    rollouts = sf.read(made / "evaluations.npz")
    name = made.name
    assert tallies(rollouts) == {(f"{name} @ 100",): (1, 2), (f"{name} @ 200",): (2, 2)}
    assert rollouts.where(policy=f"{name} @ 200").column("steps") == (7, 8)


def test_returns_alone_need_a_range(tmp_path: Path) -> None:
    import numpy as np

    content = samples.npz(timesteps=np.array([100]), results=np.array([[-10.0, -5.0]]))
    path = put(tmp_path, "ppo/evaluations.npz", content)
    with pytest.raises(sf.DataError, match=r'columns=\{"score": ...\} with low= and high='):
        sf.read(path)
    rollouts = sf.read(path, columns={"score": "reward"}, low=-20, high=0)
    assert rollouts.scores() == sf.Scores([-10.0, -5.0], -20, 0)
    assert rollouts.policies == ("ppo @ 100",)


def test_monitor() -> None:
    rollouts = sf.read(FIXTURES / "sb3" / "0.monitor.csv")
    assert rollouts.policies == ("sb3",)
    assert rollouts.tasks == ("PandaReach-v3",)
    assert str(rollouts.tally()) == "2 of 3 rollouts succeeded."
    assert rollouts.column("reward") == (-12.5, -3.0, -1.0)


def test_npy(made: Path) -> None:
    rollouts = sf.read(made / "pairs.npy")
    assert tallies(rollouts) == {("policy 0",): (1, 3), ("policy 1",): (2, 3)}
    assert rollouts.pairs("policy 0", "policy 1", on="order").tally() == sf.PairTally(1, 0, 1, 1)
    with pytest.raises(sf.DataError, match="Not paired"):
        rollouts.pairs("policy 0", "policy 1")


def test_roboarena_sessions() -> None:
    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    rollouts = sf.read(FIXTURES / "roboarena")
    assert tallies(rollouts) == {("pi0_droid",): (1, 2), ("pi0_fast_droid",): (0, 2)}
    assert rollouts.where(policy="pi0_fast_droid").scores().values == (0.4, 0.0)
    assert rollouts.tasks == ("put the cup in the bowl", "wipe the table: twice")
    assert rollouts.pairs("pi0_droid", "pi0_fast_droid").tally() == sf.PairTally(0, 1, 0, 1)
    assert sf.audit(rollouts).collected == "shared"
    assert any("never evidence beside it" in note for note in rollouts.notes)


def test_a_roboarena_folder_with_its_arrays(tmp_path: Path) -> None:
    """The dump keeps pickled arrays beside each session; they are left alone and named."""
    import numpy as np

    pytest.importorskip("yaml", reason="needs the extra `yaml`")
    for path in (FIXTURES / "roboarena").rglob("*.yaml"):
        put(tmp_path, f"{path.parent.name}/metadata.yaml", path.read_bytes())
    put(tmp_path, "5f1c0a5e/A_pi0/x_npz_file.npz", samples.npz(data=np.array([{}], dtype=object)))
    rollouts = sf.read(tmp_path)
    assert len(rollouts) == 4
    assert rollouts.notes[0] == f"{tmp_path.name}/5f1c0a5e/A_pi0/x_npz_file.npz: not rollouts, left out."


def test_diffusion_policy() -> None:
    rollouts = sf.read(FIXTURES / "diffusion" / "eval_log.json")
    assert rollouts.where(task="test").scores().values == (0.25, 1.0, 0.75)
    assert rollouts.where(task="test").column("seed") == ("100000", "100001", "100002")
    assert rollouts.findings == ()


def test_libero_logs() -> None:
    path = next((FIXTURES / "libero").glob("EVAL*"))
    rollouts = sf.read(path)
    assert rollouts.policies == ("openvla-ckpt7",)
    assert tallies(rollouts, "task") == {("open the drawer",): (1, 1), ("pick up the black bowl",): (1, 2)}
    assert rollouts.column("failure") == (None, "physics went wrong", None)
    assert rollouts.names("dataset") == ("libero_spatial",)
    openpi = sf.read(FIXTURES / "libero" / "openpi.log")
    assert tallies(openpi, "task") == {("open the drawer",): (0, 1)}


def test_libero_log_whose_total_disagrees(tmp_path: Path) -> None:
    text = next((FIXTURES / "libero").glob("EVAL*")).read_text().replace("# successes: 2 ", "# successes: 3 ")
    assert sf.read(put(tmp_path, "x.txt", text)).findings[0].about == "own totals disagree"


def test_lbm() -> None:
    rollouts = sf.read(FIXTURES / "lbm" / "Fig.csv")
    assert tallies(rollouts) == {("LBM finetuned",): (3, 5), ("Single Task",): (1, 5)}
    assert rollouts.findings == ()
    assert rollouts.where(policy="Single Task", task="Cut").outcomes() == (False, True, False)
    scores = sf.read(FIXTURES / "lbm" / "Progress.csv").where(policy="Single Task").scores()
    assert scores.values == (0.25, 0.0, 1.0)


def test_lbm_wrong_total_and_wrong_cell(tmp_path: Path) -> None:
    text = (FIXTURES / "lbm" / "Fig.csv").read_text()
    found = sf.read(put(tmp_path, "a.csv", text.replace(",2,3,0.6666666667,a", ",2,4,0.6666666667,a"))).findings
    assert "Num_Rollouts" in found[0].says
    with pytest.raises(sf.DataError, match=r"row 2: `Success/Failure` must list True, False or numbers; got 'Tru'"):
        sf.read(put(tmp_path, "b.csv", text.replace('"[True,True,False]"', '"[Tru,True,False]"')))


def test_what_reads_a_current_inspect_log_comes_with_the_plain_install() -> None:
    import tomllib

    project = tomllib.loads((FIXTURES.parents[1] / "pyproject.toml").read_text())["project"]
    assert any(one.startswith("zstandard") for one in project["dependencies"])


def test_wide() -> None:
    rollouts = sf.read(FIXTURES / "wide.csv")
    assert tallies(rollouts) == {("act",): (1, 2), ("octo",): (1, 2), ("pi0",): (2, 3)}
    assert rollouts.pairs("pi0", "octo").tally() == sf.PairTally(0, 1, 1, 0)
    assert any("2 empty cells" in note for note in rollouts.notes)


def test_counts() -> None:
    rollouts = sf.read(FIXTURES / "counts.csv")
    assert tallies(rollouts, "policy", "task") == {("new", "cut"): (6, 8), ("old", "cut"): (3, 8)}
    assert not rollouts.ordered
    assert sf.audit(rollouts).about("order unknown")


def test_counts_beyond_the_trials_are_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "c.csv", "policy,successes,trials\nnew,12,10\n")
    with pytest.raises(sf.DataError, match=r"c.csv, row 1: `successes` must be at most the rollouts, 10; got 12"):
        sf.read(path)


def test_rate_and_n() -> None:
    rollouts = sf.read(FIXTURES / "rates.csv")
    assert tallies(rollouts, "policy", "task") == {
        ("new", "cut"): (6, 8),
        ("old", "cut"): (8, 24),
        ("old", "pour"): (13, 24),
    }
    (found,) = rollouts.findings
    assert found.about == "a rate that n cannot give"
    assert "row 3" in found.says
    assert "20" in found.says  # 11 of 20 is 55.0%; nothing of 24 is
    assert found in sf.audit(rollouts).findings


@pytest.mark.parametrize("rate", ["abc", "101", "-1", "", "nan"])
def test_a_rate_that_is_none(tmp_path: Path, rate: str) -> None:
    path = put(tmp_path, "r.csv", f"policy,rate,n\nnew,50.0,8\nold,{rate},8\n")
    with pytest.raises(sf.DataError, match=r"r.csv, row 2: `rate` must be a rate between 0 and 100%"):
        sf.read(path)


def test_mean_and_deviation_are_pooled_to_counts() -> None:
    rollouts = sf.read(FIXTURES / "spread.csv")
    assert tallies(rollouts) == {("new",): (114, 150), ("old",): (78, 150)}
    assert [finding.about for finding in rollouts.findings] == ["mean ± standard deviation over repeats"]


def test_jsonl_and_records() -> None:
    assert tallies(sf.read(FIXTURES / "rollouts.jsonl")) == {("new",): (1, 2), ("old",): (0, 1)}
    rubric = sf.read(FIXTURES / "records.json", rubric=4)
    assert rubric.where(policy="new").scores().values == (0.5,)


def test_tsv_guesses_and_says_so() -> None:
    rollouts = sf.read(FIXTURES / "rollouts.tsv")
    assert rollouts.where(policy="old").scores().values == (1.0,)
    assert set(rollouts.notes) == {
        "policy is guessed to be the column 'Method'.",
        "task is guessed to be the column 'Task ID'.",
        "score is guessed to be the column 'Progress'.",
    }


def test_several_files_become_one_table(made: Path) -> None:
    rollouts = sf.read([FIXTURES / "lerobot" / "eval_info.json", FIXTURES / "lerobot_old" / "eval_info.json"])
    assert rollouts.policies == ("lerobot", "lerobot_old")
    assert len(rollouts.names("source")) == 2
    named = sf.read(
        [FIXTURES / "lerobot" / "eval_info.json", FIXTURES / "lerobot_old" / "eval_info.json"], policy=["a", "b"]
    )
    assert tallies(named) == {("a",): (4, 8), ("b",): (2, 3)}
    with pytest.raises(ValueError, match="one policy per file; got 1 names for 2 files"):
        sf.read([FIXTURES / "lerobot" / "eval_info.json", FIXTURES / "lerobot_old" / "eval_info.json"], policy=["a"])


def test_policy_names_come_from_the_file_the_path_or_the_user(tmp_path: Path) -> None:
    nameless = put(
        tmp_path,
        "outputs/eval/2026-01-02/03-04-05_pusht_act/eval_info.json",
        (FIXTURES / "lerobot" / "eval_info.json").read_bytes(),
    )
    assert sf.read(nameless).policies == ("pusht_act",)
    assert "The policy is called 'pusht_act', after the path." in sf.read(nameless).notes
    assert sf.read(nameless, policy="mine").policies == ("mine",)
    named = FIXTURES / "inspect" / "log.json"
    renamed = sf.read(named, policy="small")
    assert renamed.policies == ("small",)
    assert "The policy is called 'small' as you say; the file calls it 'acme/small'." in renamed.notes
    with pytest.raises(ValueError, match="must be left out when the data name several policies; they name new, old"):
        sf.read(FIXTURES / "rollouts.csv", policy="mine")


def test_a_folder_leaves_out_what_is_no_table_and_says_so(tmp_path: Path) -> None:
    put(tmp_path, "act/eval_info.json", (FIXTURES / "lerobot" / "eval_info.json").read_bytes())
    put(tmp_path, "act/videos/eval_episode_0.mp4", b"\x00\x00\x00 ftypisom")
    put(tmp_path, "act/README.md", "# notes\n")
    put(tmp_path, ".hidden/x.csv", "policy,success\na,1\n")
    rollouts = sf.read(tmp_path)
    assert len(rollouts) == 8
    left = f"{tmp_path.name}/act/README.md, {tmp_path.name}/act/videos/eval_episode_0.mp4"
    assert rollouts.notes[0] == f"{left}: not rollouts, left out."
    put(tmp_path, "old/eval_info.json", '{"per_task": [{"task')
    with pytest.raises(sf.DataError, match=r"old/eval_info.json: the file must be complete JSON"):
        sf.read(tmp_path)
