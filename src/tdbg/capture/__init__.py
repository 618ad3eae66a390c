"""Host program to events; never raises into the host program."""
