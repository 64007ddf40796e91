"""What a run has to say in numbers: its reports, and this moment's figures."""
