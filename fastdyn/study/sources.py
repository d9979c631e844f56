"""The literature that the study follows and compares with: short names for tables, and full references."""

from __future__ import annotations

BOOK = "Fu, Gonzalez and Lee"
RRT_ROBOT = "RRT Robot: Lagrange and Kane equations"
SOURCES = {
    BOOK: "K. S. Fu, R. C. Gonzalez and C. S. G. Lee, Robotics: Control, Sensing, Vision, and Intelligence, "
    "McGraw-Hill 1987, chapter 3, Robot Arm Dynamics. The chapter that this page reproduces: equations (3.x-y), Tables "
    "3.1 to 3.5, Figs. 3.10 and 3.11, and the problems at its end.",
    "Norrlöf": "M. Norrlöf, Modeling of industrial robots, report LiTH-ISY-R-2208, Linköping University 1999. "
    "Christoffel symbols: Algorithm 2.",
    "Fakhari": "A. Fakhari, Robot Dynamics, Part 1, lecture slides, 2024. Twists and wrenches.",
    RRT_ROBOT: "RRT Robot: Lagrange and Kane equations of motion, a worked example, author not named. Kane's "
    "equations: (16) to (29).",
    "Hollerbach 1980": "J. M. Hollerbach, A recursive Lagrangian formulation of manipulator dynamics and a comparative "
    "study of dynamics formulation complexity, IEEE Transactions on Systems, Man, and Cybernetics 10 (11), 730-736, "
    "1980.",
    "Luh, Walker and Paul 1980": "J. Y. S. Luh, M. W. Walker and R. P. C. Paul, On-line computational scheme for "
    "mechanical manipulators, ASME Journal of Dynamic Systems, Measurement, and Control 102 (2), 69-76, 1980.",
    "Kane and Levinson 1983": "T. R. Kane and D. A. Levinson, The use of Kane's dynamical equations in robotics, "
    "International Journal of Robotics Research 2 (3), 3-21, 1983.",
    "Murray and Neuman 1984": "J. J. Murray and C. P. Neuman, ARM: an algebraic robot dynamic modeling program, IEEE "
    "International Conference on Robotics, 103-114, 1984.",
    "Armstrong, Khatib and Burdick 1986": "B. Armstrong, O. Khatib and J. Burdick, The explicit dynamic model and "
    "inertial parameters of the PUMA 560 arm, IEEE International Conference on Robotics and Automation, 510-518, 1986.",
    "Corke and Armstrong-Helouvry 1994": "P. I. Corke and B. Armstrong-Hélouvry, A search for consensus among model "
    "parameters reported for the PUMA 560 robot, IEEE International Conference on Robotics and Automation, 1608-1613, "
    "1994.",
    "Corke's Robotics Toolbox": "P. I. Corke, Robotics Toolbox for MATLAB, manual.",
}
