"""`python -m maskedadv` is the same as the `maskedadv` command."""

from maskedadv.cli.main import main

if __name__ == "__main__":
    main()
