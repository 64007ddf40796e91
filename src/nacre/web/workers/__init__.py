"""The processes that read the stores of jobs, so that no scan holds the console up."""
