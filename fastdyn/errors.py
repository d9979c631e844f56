"""Error types. Every message names the argument or element, what was expected and what was found."""


class FastdynError(Exception):
    """Any error this package raises on purpose."""


class RobotError(FastdynError, ValueError):
    """A robot's description contradicts itself or physics."""


class DescriptionError(RobotError):
    """A file cannot be read as a robot: the message names file, line and element."""


class ArgumentError(FastdynError, ValueError):
    """An argument of a call has the wrong shape, length or value."""


class ArgumentTypeError(FastdynError, TypeError):
    """An argument of a call cannot be read as an array of real numbers."""


class NotFiniteError(ArgumentError):
    """An argument holds NaN or infinity, or a result left the range of float64."""


class LimitError(FastdynError, ValueError):
    """A state or torque is outside the limits of its joints."""


class NoClosedFormError(FastdynError, ValueError):
    """The inverse kinematics of a robot has no known closed form: the message says which axes prevent it."""


class SingularMassMatrixError(FastdynError, ArithmeticError):
    """Forward dynamics has no solution: some joint moves no inertia."""


class MissingExtraError(FastdynError, ImportError):
    """A function needs a package that comes with one of the optional extras."""


class RobotWarning(UserWarning):
    """Doubtful data in a description, such as the physically impossible inertias of some published tables."""


class FormulationError(FastdynError, ValueError):
    """A formulation does not support this robot, or no formulation has this name."""


class FileError(FastdynError, ValueError):
    """A file of results that is not as expected: the message names the file and the place."""
