"""`python -m nacre`."""

from nacre.cli import main

if __name__ == "__main__":
    main()
