"""What was not measured, predicted from what was: between loads, at other request sizes, each with its interval."""
