"""`surefoot report --figures --width --style`, and the same of a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.cli.main import run
from surefoot.cli.report import inches


@pytest.mark.parametrize(("word", "wide"), [("3.4in", 3.4), ("86mm", 86 / 25.4), ("8.6cm", 8.6 / 2.54), ("7", 7.0)])
def test_a_width_is_read_in_any_unit(word: str, wide: float) -> None:
    assert inches(word) == pytest.approx(wide)


def test_figures_are_written_as_wide_as_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{policy},{int(n % 10 < level)}" for policy, level in (("new", 8), ("old", 5)) for n in range(20)]
    (tmp_path / "r.csv").write_text("policy,success\n" + "\n".join(rows))
    said = ["report", str(tmp_path / "r.csv"), "-o", str(tmp_path / "r.html"), "--figures", str(tmp_path / "f")]
    assert run([*said, "--width", "3.4in", "--style", "ggplot"]) == 0
    assert 'width="244.8pt"' in (tmp_path / "f" / "policies.svg").read_text()
    assert run([*said, "--width", "wide"]) == 64
    assert "`--width` must be a width such as 3.4in or 86mm; got 'wide'" in capsys.readouterr().err
