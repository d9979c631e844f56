"""`python -m fastdyn` is the command `fastdyn`."""

from fastdyn.cli import main

if __name__ == "__main__":
    main()
