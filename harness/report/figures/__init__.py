"""Figures for reports, papers and slides, one file each.

Every function takes a sweep's summary, or tidy frames and objects, and returns a matplotlib figure that nothing else holds on to; beside each stands
`…_table` with the numbers that are drawn. Where there is nothing to draw the figure says so. `save` writes files, `svg_for_page` makes an element
for a web page.
"""

from harness.report.figures.axis_effects import axis_effects, axis_effects_table
from harness.report.figures.axis_levels import axis_levels, axis_levels_table
from harness.report.figures.chunk_sizes import chunk_sizes, chunk_sizes_table
from harness.report.figures.compare_cells import compare_cells, compare_cells_table
from harness.report.figures.cost import cost, cost_table
from harness.report.figures.leaderboard_forest import leaderboard_forest, leaderboard_forest_table
from harness.report.figures.quality_against_context import quality_against_context, quality_against_context_table
from harness.report.figures.refusal_curve import refusal_curve, refusal_curve_table
from harness.report.figures.saving import save, svg_for_page, to_svg
from harness.report.figures.size_discrimination import size_discrimination, size_discrimination_table
from harness.report.figures.size_overlap_heatmap import size_overlap_heatmap, size_overlap_heatmap_table
from harness.report.figures.where_questions_are_lost import where_questions_are_lost, where_questions_are_lost_table

__all__ = [
    "axis_effects",
    "axis_effects_table",
    "axis_levels",
    "axis_levels_table",
    "chunk_sizes",
    "chunk_sizes_table",
    "compare_cells",
    "compare_cells_table",
    "cost",
    "cost_table",
    "leaderboard_forest",
    "leaderboard_forest_table",
    "quality_against_context",
    "quality_against_context_table",
    "refusal_curve",
    "refusal_curve_table",
    "save",
    "size_discrimination",
    "size_discrimination_table",
    "size_overlap_heatmap",
    "size_overlap_heatmap_table",
    "svg_for_page",
    "to_svg",
    "where_questions_are_lost",
    "where_questions_are_lost_table",
]
