"""The experiment of the National Library of China's paper, on a world whose truth is known."""
