"""Which option a written answer states."""
