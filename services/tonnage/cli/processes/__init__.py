"""Starting the servers and the pages as child processes, and ending them together."""
