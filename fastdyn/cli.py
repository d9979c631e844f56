"""The command `fastdyn` (extra `cli`). Modules are imported when a command needs them, so that --help is quick."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from textwrap import fill, shorten
from typing import TYPE_CHECKING, Annotated, Any

try:
    import typer
except ImportError:
    print("fastdyn: the command line needs typer and rich: pip install 'fastdyn[cli]'", file=sys.stderr)
    raise SystemExit(2) from None

if TYPE_CHECKING:
    from fastdyn.bench.results import Bench
    from fastdyn.page.content import Table
    from fastdyn.robot import CoupledRobot, Robot

USAGE = 2  # exit code of usage errors
WIDTH = 120  # columns of output to files and pipes

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
    epilog="""\b
Examples:
  fastdyn robots                    the built-in robots
  fastdyn info puma560              all data of one of them
  fastdyn info arm.urdf             all data of a robot from a file
  fastdyn study --quick --open      the classic formulations, counted and timed on this machine""",
)


class Refusal(Exception):
    """A command that cannot be carried out; the message is shown to the user."""


def main() -> None:
    """Runs the command line. A user's error is reported in one line; Ctrl-C exits with 130."""
    from fastdyn.errors import FastdynError
    from fastdyn.interrupt import INTERRUPTED, handle_again
    from fastdyn.output import print_anything

    usage: Any = typer.BadParameter.__mro__[1]  # UsageError, which typer does not export
    try:
        handle_again()
        print_anything()
        with _tidy_warnings():
            code = app(prog_name="fastdyn", standalone_mode=False)
    except usage as problem:
        _fail(f"{problem.format_message()} (fastdyn --help explains)")
    except (Refusal, FastdynError) as problem:
        _fail(str(problem))
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):  # `fastdyn robots | head -1` closes the pipe early
            sys.stdout = None
            raise SystemExit(0) from None
        _fail(f"{problem.filename}: {problem.strerror}" if problem.filename else str(problem))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        print("fastdyn: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # sys.exit may be overridden by the signal, as in `python -c`
    raise SystemExit(code)


def _fail(message: str) -> None:
    print(f"fastdyn: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(USAGE)


@contextmanager
def _tidy_warnings() -> Iterator[None]:
    """Prints this package's warnings on stderr, without repetition."""
    from fastdyn.errors import RobotWarning

    seen: set[str] = set()

    def show(message: Warning | str, *rest: Any, **more: Any) -> None:
        text = str(message)
        if text not in seen:
            seen.add(text)
            print(f"fastdyn: warning: {text}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RobotWarning)
        warnings.showwarning = show
        yield


# ---------------------------------------------------------------------------------------------- commands


@app.callback(invoke_without_command=True)
def fastdyn(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """The dynamics of robot arms, compiled."""
    if version:
        from fastdyn import __version__

        print(f"fastdyn {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def robots() -> None:
    """List the built-in robots.

    R is a revolute joint, P a prismatic one; kg is the moving mass. `fastdyn info` shows each source in full.
    """
    from rich.table import Table

    from fastdyn.robots import get, names

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("robot", no_wrap=True)
    table.add_column("joints", no_wrap=True)
    table.add_column("kg", justify="right", no_wrap=True)
    table.add_column("description, and source of its data")
    for name in names():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `fastdyn info` shows them
            robot = get(name)
        about, source, _ = _origin(name)
        short = f"\n[dim]{shorten(source, 84, placeholder=' ...')}[/dim]" if source else ""
        table.add_row(name, robot.kinds, f"{robot.moving_mass:.4g}", about + short)
    _console().print(table)


@app.command(
    epilog="""\b
Examples:
  fastdyn info panda
  fastdyn info arm.urdf
  fastdyn info scene.xml            URDF, or MJCF where the package mujoco is installed"""
)
def info(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name, or a .urdf, .xml or .toml file.")],
    coupled: Annotated[
        bool, typer.Option("--coupled", help="In the coordinates of its motors: irb1400, irb1400_main_axes.")
    ] = False,
) -> None:
    """Show all data of a robot.

    Joints, limits, masses, drives, gravity, the source of the data, and warnings about it.
    """
    from fastdyn.errors import RobotWarning
    from fastdyn.robots import names

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RobotWarning)
        found = _robot(robot, coupled)
    shown = str(found)
    print(shown)
    if robot in names(coupled):
        about, source, note = _origin(robot)
        for text in (about, f"Source: {source}" * bool(source), note):
            print(("\n" if text is about else "") + fill(text, WIDTH) + "\n" * bool(text), end="")
    for warning in caught:
        if "that no real body can be" not in str(warning.message):  # the table marks those links
            lines = f"warning: {warning.message}".splitlines()
            print("", *(fill(line, WIDTH, subsequent_indent="    ") for line in lines), sep="\n")


@app.command(
    epilog="""\b
Examples:
  fastdyn equations two_link
  fastdyn equations two_link --let a1=l --let x1=l/2 --let x2=l/2 --let I1zz=m1*l**2/12 --let I2zz=m2*l**2/12
  fastdyn equations irb1400_main_axes --coupled --what M,g --latex
  fastdyn equations arm.urdf --numbers --code c"""
)
def equations(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name, or a .urdf, .xml or .toml file.")],
    coupled: Annotated[bool, typer.Option("--coupled", help="In the coordinates of its motors.")] = False,
    numbers: Annotated[bool, typer.Option("--numbers", help="The robot's numbers instead of letters.")] = False,
    what: Annotated[
        str, typer.Option(help="Some of M, C, g, friction, tau, kinetic, potential, separated by commas.")
    ] = "M,C,g,friction",
    let: Annotated[list[str] | None, typer.Option(help="A formula for a letter, LETTER=FORMULA; repeatable.")] = None,
    latex: Annotated[bool, typer.Option("--latex", help="As LaTeX.")] = False,
    code: Annotated[str | None, typer.Option(help="As functions in python, numpy or c.")] = None,
) -> None:
    """Show a robot's equations of motion.

    M(q) qdd + C(q, qd) qd + g(q) + friction = tau, with letters for masses and lengths. Needs SymPy.
    """
    relations = {}
    for each in let or ():
        letter, equal, formula = each.partition("=")
        if not equal:
            raise Refusal(f"--let is {each!r}: expected LETTER=FORMULA, such as a1=l")
        relations[letter.strip()] = formula
    if code is not None and latex:
        raise Refusal("--latex and --code: expected one of them")
    found = _robot(robot, coupled).equations(not numbers, relations)
    parts = [part.strip() for part in what.split(",") if part.strip()]
    print(found.code(code) if code is not None else found.latex(parts) if latex else found.text(parts))


@app.command(
    epilog="""\b
Examples:
  fastdyn counts puma560 lagrange_euler
  fastdyn counts arm.urdf inverse_dynamics
  fastdyn counts panda --quick      all of them, without the algebra"""
)
def counts(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name, or a .urdf, .xml or .toml file.")],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A formulation or a quantity; all if not given.")
    ] = None,
    frame: Annotated[str | None, typer.Option(help="The frame of kinematic quantities; the tip if not given.")] = None,
    coupled: Annotated[
        bool, typer.Option("--coupled", help="In the coordinates of its motors: irb1400, irb1400_main_axes.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Without the algebra that saves further operations.")] = False,
) -> None:
    """Count a robot's operations, for one state.

    General code, the same with the robot's numbers folded in (traced), and rewritten by algebra (specialised).
    """
    from rich.table import Table

    from fastdyn.errors import RobotWarning
    from fastdyn.study import count
    from fastdyn.study.counts.robot import Counts, columns

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # `fastdyn info` shows them
        found = _robot(robot, coupled)
    with _progress() as progress:
        counted = count(found, name, frame, not quick, progress)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    names, *numbers = columns(counted.values() if isinstance(counted, Counts) else [counted])
    table.add_column(no_wrap=True)
    for side, kind, *_ in numbers:
        table.add_column(f"{side}\n{kind}", justify="right", no_wrap=True, min_width=10 if side else None)
    for cells in zip(names[2:], *(column[2:] for column in numbers), strict=True):
        table.add_row(*cells)
    print(f"{found.name}: operations for one state")
    console = _console()
    console.width = 1000  # the table takes what it needs: a narrow terminal breaks lines, but no number is cut
    console.print(table)
    for line in counted.missing() if isinstance(counted, Counts) else ():
        print(f"\n{line}")


@app.command(
    epilog="""\b
Examples:
  fastdyn bench --quick                                 a short test run
  fastdyn bench --out results --open                    all installed peers, some minutes
  fastdyn bench --compare old.json                      the same, beside an earlier run
  fastdyn bench --from new.json --compare old.json      two earlier runs; with --out, as a page"""
)
def bench(
    sizes: Annotated[str, typer.Option(help="Numbers of joints of the random chains: 6,7,12.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Few robots and repeats: less than a minute.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the page, summary.md, bench.json and csv/: bench, or none with --from."),
    ] = None,
    kept: Annotated[
        Path | None, typer.Option("--from", help="Show a bench.json again, with --out as a page; nothing is measured.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Show the results beside those of another run, its bench.json.")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Time this package and its peers.

    All installed peers in one run on this machine, their results compared: ratios of times, as a page and as data.
    """
    from importlib.util import find_spec

    from fastdyn.bench import report as pages
    from fastdyn.bench.compare import Comparison
    from fastdyn.errors import MissingExtraError
    from fastdyn.output import check_folder

    joints = [part.strip() for part in sizes.split(",") if part.strip()]
    if not all(part.isdecimal() and int(part) > 0 for part in joints):
        raise Refusal(f"--sizes is {sizes!r}: expected numbers of joints separated by commas, such as 6,7,12")
    if kept is not None and (quick or joints):
        raise Refusal("--from and --quick or --sizes: expected one of them")
    home, writing = out or Path("bench"), out is not None or kept is None
    if writing:  # checked now, not after minutes of measuring
        check_folder(home, "--out")
        if find_spec("matplotlib") is None:
            raise MissingExtraError("the page of a benchmark draws figures: pip install 'fastdyn[plots]'")
    old = None if compare is None else pages.read(compare)
    new = _measured(quick, joints, home / "unfinished.json") if kept is None else pages.read(kept)
    tables, doubts, written = [pages.quickest_table(new)], new.doubts, []
    if writing:
        written.append(pages.write(new, home))
        (home / "unfinished.json").unlink(missing_ok=True)
    if old is not None:
        comparison = pages.comparison_report(Comparison(old, new))
        tables, doubts = comparison.tables, comparison.warnings
        if writing:
            written.append(pages.write_comparison(Comparison(old, new), home / "comparison"))
    for table in tables:
        _print(table)
        print()
    for doubt in doubts:
        print(f"fastdyn: warning: {doubt}", file=sys.stderr)
    for page in written:
        print(f"wrote {page}; beside it summary.md, the data as JSON, and csv/")
    if open_page and written:
        typer.launch(written[-1].resolve().as_uri())


def _measured(quick: bool, joints: list[str], part: Path) -> Bench:
    """Runs the benchmark. part: a file for the results after each robot, so that a run that is ended loses little."""
    from dataclasses import replace

    from fastdyn.bench import measure, report
    from fastdyn.output import write

    plan = measure.QUICK if quick else measure.FULL
    if joints:
        plan = replace(plan, sizes=tuple(map(int, joints)))
    command = "fastdyn bench" + " --quick" * quick + f" --sizes {','.join(joints)}" * bool(joints)
    try:
        with _progress() as progress:
            return measure.measure(plan, command, progress, lambda bench: write(part, report.text(bench)))
    except KeyboardInterrupt:
        if part.exists():
            print(f"fastdyn: {part} has the robots so far: `fastdyn bench --from {part}` shows them", file=sys.stderr)
        raise


@app.command(
    epilog="""\b
Examples:
  fastdyn study --quick --open      half a minute; a first run also compiles, for a minute
  fastdyn study --out results
  fastdyn study --from results/study.json --out again"""
)
def study(
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the page, summary.md, study.json and csv/: study, or that of the file given as --from."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Fewer sizes and repeats: half a minute; a first run also compiles, a minute."),
    ] = False,
    kept: Annotated[
        Path | None, typer.Option("--from", help="Write the page of a study.json again; nothing is measured.")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write a page about the classic formulations.

    Counts their operations, compares the counts with published tables, and times them on this machine. Passes that are
    done when it is ended are kept in unfinished.json, which --from takes, too.
    """
    from fastdyn.output import check_folder, write
    from fastdyn.study import report, results

    if kept is not None and quick:
        raise Refusal("--from and --quick: expected one of them")
    out = out or (Path("study") if kept is None else kept.parent)
    check_folder(out, "--out")  # now, not after minutes of measuring
    command, unfinished = "fastdyn study" + " --quick" * quick, out / "unfinished.json"
    with _progress() as progress:
        found = (
            report.gather(quick, progress, command, lambda so_far: write(unfinished, so_far.text()))
            if kept is None
            else results.read(kept)
        )
        progress(0.95, "drawing")
        page = report.write(found, out)
    unfinished.unlink(missing_ok=True)
    print(f"wrote {page}; beside it summary.md, study.json and csv/")
    if open_page:
        typer.launch(page.resolve().as_uri())


@app.command(
    epilog="""\b
Examples:
  fastdyn view puma560 swing.csv                columns t, q1 to q6, and tau1 to tau6 if known
  fastdyn view arm.urdf run.npz --out run.html --open"""
)
def view(
    robot: Annotated[str, typer.Argument(metavar="ROBOT", help="A built-in name, or a .urdf, .xml or .toml file.")],
    trajectory: Annotated[
        Path, typer.Argument(metavar="TRAJECTORY", help="A .csv file (t, q1, ..., tau1, ...) or .npz file (t, q, tau).")
    ],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("motion.html"),
    coupled: Annotated[bool, typer.Option("--coupled", help="In the coordinates of its motors.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Write a page to watch a motion on.

    The arm in 3-D, and torques, speeds, positions and energies over time: one HTML file that loads nothing else.
    """
    from fastdyn.errors import RobotWarning
    from fastdyn.view.files import read
    from fastdyn.view.page import check_file, write

    check_file(out, "--out")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # `fastdyn info` shows them
        found = _robot(robot, coupled)
    given: dict[str, Any] = read(trajectory, found)
    page = write(found, **given, path=out, title=f"{found.name}: {trajectory.name}")
    print(f"wrote {page}")
    if open_page:
        typer.launch(page.resolve().as_uri())


# ---------------------------------------------------------------------------------------------- helpers


def _console(stderr: bool = False) -> Any:
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    return console


def _print(table: Table) -> None:
    """A table of a page, on the terminal."""
    from rich.table import Table as Shown
    from rich.text import Text

    from fastdyn.page.content import written

    shown = Shown(box=None, pad_edge=False, padding=(0, 2, 0, 0), title=table.title, title_justify="left")
    for column in table.columns:
        right = column.kind in ("number", "percent")
        shown.add_column(column.name, justify="right" if right else "left", no_wrap=right)
    for row in table.rows:
        shown.add_row(*(Text(written(*pair)) for pair in zip(row, table.columns, strict=True)))
    _console().print(shown)


@contextmanager
def _progress() -> Iterator[Callable[[float, str], None]]:
    """A progress bar in a terminal; elsewhere a line for each step."""
    console = _console(stderr=True)
    if not console.is_terminal:
        said = ""

        def say(fraction: float, what: str) -> None:
            nonlocal said
            if what != said:
                said = what
                print(f"{fraction:4.0%}  {what}", file=sys.stderr, flush=True)

        yield say
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        BarColumn(18),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda fraction, what: bar.update(task, completed=fraction, description=what)


def _robot(name: str, coupled: bool) -> Robot | CoupledRobot:
    """A file if the name has a suffix or exists, otherwise a built-in robot."""
    from fastdyn.robot import load
    from fastdyn.robots import get

    path = Path(name)
    return load(path) if not coupled and (path.suffix or path.is_file()) else get(name, coupled)


def _origin(name: str) -> tuple[str, str, str]:
    """Description, source and note of a built-in robot: from its file, else from its docstring.

    Arms in closed form name their source in the first sentence.
    """
    import tomllib
    from importlib import resources

    from fastdyn.robots.zoo import COUPLED, ROBOTS

    make = ROBOTS.get(name) or COUPLED[name]
    about, _, rest = cleandoc(make.__doc__ or "").partition("\n\n")
    file = resources.files("fastdyn.robots") / "data" / f"{name}.toml"
    if not file.is_file():
        rest = " ".join(rest.partition(">>>")[0].split())
        return (about, rest, "") if make.__module__.endswith(".arms") else (about, "", rest)
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    return about, " ".join(found.get("source", "").split()), " ".join(found.get("note", "").split())


if __name__ == "__main__":
    main()
