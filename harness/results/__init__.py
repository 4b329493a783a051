"""The one reader of stored results: sweeps, cells and questions as tidy frames or as objects, from plain files or from MLflow.

    from harness.results import Results

    results = Results.open("outputs")                       # or "sqlite:///outputs/mlflow.db", "http://localhost:5000"
    results.sweeps()                                        # one row a sweep, the newest first
    results.cells()                                         # one row a cell of the newest sweep; results.cells("handbook-7aec") of another
    results.questions(columns=["attribution"])              # one row a cell and question
    results.summary()                                       # what figures and verdicts are made of

Reports, the gate and the notebooks read through this package. Results of another schema version are refused by name, never read half.
"""

from harness.results.frames import cell_frame, question_frame
from harness.results.reader import Results
from harness.results.stored import StoredSweep, cell, cells, sweep, sweeps

__all__ = ["Results", "StoredSweep", "cell", "cell_frame", "cells", "question_frame", "sweep", "sweeps"]
