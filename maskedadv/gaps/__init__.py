"""From abilities to the three gaps, under every variant."""
