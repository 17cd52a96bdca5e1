"""``python -m tidegauge``: the program."""

from tidegauge import main

main()
