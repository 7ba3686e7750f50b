"""What PlantDesk enters into the system it runs on when a person asks for it: start at login, a place on the PATH.

`login` is the face of the first for all systems, and imports only the module of the one it runs on; the second is
Windows' alone (`windows_path`), for elsewhere packages bring it along.
"""
