"""What the pages share: session, presenters, charts, widgets and words."""
