"""Work off what there is to score: units, files of answers, jobs."""
