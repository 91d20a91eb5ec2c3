"""Generated message classes and stubs of the published interface; made by ``make gen``."""
