"""`python -m maskedadv` is the same as the `maskedadv` command."""

from maskedadv.cli.main import program

if __name__ == "__main__":
    program()
