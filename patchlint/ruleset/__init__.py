"""The ruleset room: ``rules/**/*.toml`` as rules and API models, checked. See docs/architecture.md."""

from patchlint.ruleset.load import Ruleset, digest_of, keep, load, restore
from patchlint.ruleset.models import Models
from patchlint.ruleset.rule import Rule
from patchlint.ruleset.source import RuleFile

__all__ = ["Models", "Rule", "RuleFile", "Ruleset", "digest_of", "keep", "load", "restore"]
