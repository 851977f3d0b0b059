"""The states of a moving figure, one for each choice of its controls' values."""

import itertools


def frames(figure):
    """Each frame, after its values."""
    return zip(itertools.product(*(control.values for control in figure.controls)), figure.frames, strict=True)


def states(figure):
    """Each frame by its values: the places of the marks that are there, by key, the sentence, and found."""
    keys = list(figure.panels[0].marks)
    for values, frame in frames(figure):
        places = zip(keys, frame.scenes[0].places, strict=True)
        yield values, {key: place for key, place in places if place}, frame.sentence, frame.found
