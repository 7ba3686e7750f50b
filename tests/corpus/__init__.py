"""Files of other programs and projects, imported and compared with what another reader reads: `python -m tests.corpus`.

`files.tsv` names each: its package with the version, its path there, its SHA-256, the second reader, options of the
import, and the result. `same`: every cell is as the second reader reads it. `differs N`: N cells are not, for a reason.
`refused`: with this text in the message. The packages are fetched by pip, npm and apt-get into `.dev/corpus`.
"""
