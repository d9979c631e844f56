"""A page to watch a motion on: one HTML file that needs nothing else. Takes a robot as an argument.

motion.py    the samples: checked, completed, thinned out
scene.py     the robot as the page's script moves it
page.py      the file
files.py     trajectories from .csv and .npz
view.js      the arm in 3-D, player, strips
"""

from fastdyn.view.files import read
from fastdyn.view.page import write

__all__ = ["read", "write"]
