"""The vocabulary that the stages share."""
