"""What a fit gives back: the cube, its uncertainty, its files."""
