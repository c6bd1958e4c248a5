"""Speed and scale, as JSON: ``python -m benchmarks --help``; README.md says how to read the figures.

Work is counted in packet-hops: links between routers, and links to hosts, that packets crossed. One thread's speed
is packet-hops per CPU-second of the measured part alone, after a warm-up.
"""
