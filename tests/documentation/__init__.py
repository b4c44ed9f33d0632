"""What pages show: the steps of a reader, the files that tutorials come with, code in R."""
