"""The report as a person meets it: in Chromium, on a phone and on a desk, light and dark."""

from __future__ import annotations

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.demo import example_rollouts
from tests.support.clip_studies import filmed

pytestmark = pytest.mark.end_to_end

WIDTHS = {"phone": 390, "desk": 1280}


def several() -> sf.Rollouts:
    """Many policies with long names, tasks, a judge, and something for the audit to say."""
    rows = [
        (f"policy_with_a_rather_long_name_{n}", task, n + i % 3 > 2, i / 40, "judge-1", "v2")
        for n in range(6)
        for task in ("PutFruitInLargeContainerAndCoverWithPlate", "fold")
        for i in range(12)
    ]
    names = ["policy", "task", "success", "score", "judge", "dataset"]
    return sf.read(pl.DataFrame(rows, schema=names, orient="row"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    now, before = example_rollouts(), example_rollouts()
    return {
        "demo": sf.report(now, previous=before).save(folder / "demo.html"),
        "several": sf.report(several()).save(folder / "several.html"),
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["demo", "several"])
def test_the_page_is_accessible_and_fits(chromium, pages, name, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = chromium.new_context(viewport={"width": WIDTHS[width], "height": 844}, color_scheme=scheme)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name].as_uri())
    found = axe.Axe().run(page).response["violations"]
    assert not found, [(rule["id"], [node["html"][:200] for node in rule["nodes"]][:3]) for rule in found]
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= WIDTHS[width], "the page itself must not scroll sideways"
    assert [url for url in asked if not url.startswith("file:")] == []
    context.close()


def test_the_first_screen_of_a_phone_answers(chromium, pages):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["demo"].as_uri())
    box = page.locator(".answer").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 500
    assert page.locator(".answer").inner_text() == "For conditions like these 120: new is better than old."
    context.close()


def test_long_tables_are_searched_and_sorted(chromium, tmp_path):
    rows = [
        (f"policy {n:02d}", f"task {t}", (n * t + k) % 12 < n) for n in range(12) for t in range(3) for k in range(6)
    ]
    made = sf.report(sf.read(pl.DataFrame(rows, schema=["policy", "task", "success"], orient="row")))
    path = made.save(tmp_path / "long.html")
    context = chromium.new_context(viewport={"width": 1280, "height": 844})
    page = context.new_page()
    page.goto(path.as_uri())
    table = page.locator("table").first

    def first():
        return table.locator("tbody tr:not([hidden]) th").first.inner_text()

    page.get_by_label("Search").first.fill("policy 03")
    assert table.locator("tbody tr:not([hidden])").count() == 1
    assert first() == "policy 03"
    page.get_by_label("Search").first.fill("")
    rate = table.locator("thead button", has_text="success rate")
    rate.click()
    lowest = first()
    rate.click()
    assert {lowest, first()} == {"policy 00", "policy 11"}
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page).response["violations"]
    assert not found, [(rule["id"], [node["html"][:200] for node in rule["nodes"]][:3]) for rule in found]
    context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_number_leads_to_its_rollouts_and_a_clip_opens_in_place(chromium, tmp_path, width):
    study = filmed(tmp_path)
    path = sf.report(study).save(tmp_path / "report.html")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    expect = pytest.importorskip("playwright.sync_api").expect
    context = chromium.new_context(viewport={"width": WIDTHS[width], "height": 844})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    shown = page.locator("#rollouts tbody tr:visible")
    expect(shown).to_have_count(16)
    number = page.locator("a[href='#rollouts?policy=new&outcome=success']").nth(
        1
    )  # k of k/n; the rate before it leads to the same
    number.click()
    expect(shown).to_have_count(int(number.inner_text()))
    assert page.evaluate("document.getElementById('rollouts').getBoundingClientRect().top") < 844
    assert page.locator("#rollouts output").inner_text() == f"{number.inner_text()} of 16 rollouts"
    assert page.input_value("select[name=policy]") == "new"
    page.locator("#rollouts a[data-kind]:visible").first.click()
    picture = page.locator(".player img")
    assert picture.is_visible()
    assert page.evaluate("() => document.querySelector('.player img').decode().then(() => true)")
    page.click(".player button:has-text('Next')")
    assert page.locator("#rollouts tr.chosen").count() == 1
    page.select_option("select[name=policy]", "")
    page.select_option("select[name=outcome]", "void")
    expect(shown).to_have_count(2)
    assert picture.count() == 0
    assert page.url.endswith("#rollouts?outcome=void")
    page.reload()
    expect(shown).to_have_count(2)
    page.click("#rollouts button:has-text('Show all')")
    expect(shown).to_have_count(16)
    page.click("#rollouts th .sort >> nth=0")
    page.click("#rollouts th .sort >> nth=0")
    assert shown.first.locator("td").first.inner_text() == "16"
    page.fill("#rollouts .search input", "slipped")
    expect(shown).to_have_count(3)
    found = axe.Axe().run(page).response["violations"]
    assert not found, [(rule["id"], [node["html"][:200] for node in rule["nodes"]][:3]) for rule in found]
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    page.emulate_media(media="print")
    assert page.locator("details:not([open]) table").first.is_visible()  # paper shows what a click would
    assert page.locator(".search:visible, #rollouts:visible").count() == 0  # and nothing to type into
    assert errors == []
    context.close()
