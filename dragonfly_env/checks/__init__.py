"""What comes from outside: values, arrays, files and documents, each checked before it is used.

Every refusal is a ``ConfigError`` with the field, the value and what is allowed.
"""
