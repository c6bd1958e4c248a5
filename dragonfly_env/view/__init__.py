"""A page on which one sees routing: runs recorded frame by frame, and one HTML file that plays them."""

from dragonfly_env.view.page import write_view
from dragonfly_env.view.recording import Recording, record

__all__ = ["Recording", "record", "write_view"]
