# SPDX-License-Identifier: Apache-2.0
"""validate.py SCHEMA - validates the JSON values on standard input with another implementation of JSON
Schema (draft 2020-12). Prints y or n for each."""
import json
import sys

from jsonschema import Draft202012Validator

with open(sys.argv[1], encoding='utf-8') as file:
    schema = json.load(file)
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
text, at, decoder = sys.stdin.read().strip(), 0, json.JSONDecoder()
while at < len(text):
    value, end = decoder.raw_decode(text, at)
    print('y' if validator.is_valid(value) else 'n', end='')
    at = end + len(text[end:]) - len(text[end:].lstrip())
print()
