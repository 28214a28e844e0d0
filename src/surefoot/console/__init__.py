"""A study in a browser, over JSON, and from a script on another machine."""
