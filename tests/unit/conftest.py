"""Tests say nothing about time, so generated examples may take as long as a busy machine makes them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("tdbg", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tdbg")
