"""How fast treekit is, beside scikit-learn, XGBoost, LightGBM and the plain way; `make bench` measures it.

Every program gets one thread. That must be said before NumPy is imported, so it is said here.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
