"""The root of every error this package raises."""


class WholecallError(Exception):
    """Something was used wrongly or could not be done; its facts are its attributes.

    What a stream does is never an error here: a refused response is an answer.
    """
