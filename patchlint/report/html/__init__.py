"""One self-contained page: the series, each patch's diff with the finding on its line, the path beside the source.

Nothing is fetched, and a content security policy with hashes keeps anything that came by mail from running.
"""

from patchlint.report.html.page import render

__all__ = ["render"]
