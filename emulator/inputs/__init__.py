"""All inputs of a cluster, as plain data: statements and their conditions."""

from emulator.inputs.conditions import *
from emulator.inputs.statements import *
from emulator.inputs.words import Count as Count
from emulator.inputs.words import Natural as Natural
