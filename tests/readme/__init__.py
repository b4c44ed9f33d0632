"""What README.md shows, made anew: its numbers, its figure, the lines that commands print."""
