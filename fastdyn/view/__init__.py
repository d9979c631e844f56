"""A page to watch a motion on: one HTML file that needs nothing else. Takes a robot as an argument.

methods.py   what robots inherit; imports the rest when called
motion.py    the samples: checked, completed, thinned out
scene.py     the robot as the page's script moves it
page.py      the file
files.py     trajectories from .csv and .npz
space.js     vectors and poses for view.js
view.js      the arm in 3-D, player, strips
live.py      a robot that Python moves, in the browser (extra `live`)
"""
