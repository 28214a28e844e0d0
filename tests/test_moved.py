"""Tests of `surefoot._moved`; that every name of 0.2.0 answers is tested in tests/whole/test_old_results.py."""

import importlib
import pkgutil
import sys

from surefoot import _moved


def test_every_old_name_leads_to_something_and_is_no_public_name():
    for old, new in _moved.moved().items():
        room, _, name = old.rpartition(".")
        assert name not in vars(importlib.import_module(room)).get("_HOMES", ())
        assert pkgutil.resolve_name(new) is not None


def test_the_home_of_a_type_is_its_module():
    for home, names in _moved.TYPES.items():
        for name in names.split():
            _moved.import_type(name)
            assert home in sys.modules
            assert getattr(importlib.import_module(home), name).__module__ == home
    _moved.import_type("Nothing")  # there is none: `from_dict` says so
