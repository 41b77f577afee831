"""`python -m wholecall` is the command `wholecall`."""

from wholecall.command import main

if __name__ == "__main__":
    main()
