"""Files and folders of results: whole or not at all; small tables of text."""
