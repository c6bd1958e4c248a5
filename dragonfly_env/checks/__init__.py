"""The one rule of trust: settings, options and files are checked once, where they come in.

``values`` checks settings and arrays, ``files`` reads and writes files, ``extras`` names the extra that is missing.
Every refusal is a ``ConfigError`` with the field, the value and what is allowed. What a program passes is not checked.
"""
