"""The report of a sweep as one HTML file that opens offline, with the boundary viewer."""

from harness.report.page.render import LIMIT, About, render

__all__ = ["LIMIT", "About", "render"]
