# SPDX-License-Identifier: MIT
"""What a script needs from PyPI, said in one line where it is not here: needs("torch", "numpy")."""
import importlib.util
import os
import sys


def needs(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        script = os.path.basename(sys.argv[0])
        sys.exit(f"{script}: expected {' and '.join(missing)}, found none. Try: pip install "
                 f"{' '.join(missing)}")
