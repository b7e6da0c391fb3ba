"""Settings of all tests. It also lies here so that every test can import the modules beside it."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("steady")
