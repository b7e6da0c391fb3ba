"""Every search strategy of the zoo: the next one joins by a row."""

from zoo.decoders import Beam, Greedy, Sample

STRATEGIES = {
    "greedy": Greedy(),
    "sample": Sample(7),
    "beam of 1": Beam(1),
    "beam of 2, long preferred": Beam(2, 2.0),
    "beam of 4": Beam(4),
    "beam of 5, by the mean": Beam(5, 1.0, "power"),
    "beam of 3, short preferred": Beam(3, -1.0),
}
