"""The studio: a page in the browser that asks served models and draws what they answer.

The page is plain HTML, CSS and ES modules in `page/`. It talks to TensorFlow Serving's REST interface itself;
this package hands it the files and tells which models there are.
"""

from zoo.studio.running import Studio, open_studio

__all__ = ["Studio", "open_studio"]
