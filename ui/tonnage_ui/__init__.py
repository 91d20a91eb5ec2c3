"""What the pages stand on: requests from widgets, and replies turned into rows, labels and charts."""
