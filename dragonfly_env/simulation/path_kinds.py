"""Names that the packet log gives to the paths of packets."""

from __future__ import annotations

PATH_KINDS = ("minimal", "lgl", "lg", "gl", "g", "l", "prescribed")
"""Names by the ``path_kind`` of a packet. ``lgl``, ``lg``, ``gl`` and ``g`` are LIA's names of the first part of a
non-minimal path: local, global, local hop to the intermediate router; ``l`` is one by a further router of the group
that the packet had entered; ``prescribed`` a route of a trace that is not minimal."""
