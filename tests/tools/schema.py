# SPDX-License-Identifier: MIT
"""Prints which reports do not conform to a JSON Schema: schema.py SCHEMA
FOLDER/OBJECT-ANYTHING.json..."""
import json
import os
import sys

from jsonschema import Draft202012Validator


def main(path, *reports):
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    for report in reports:
        name = os.path.basename(report).split("-")[0]
        # The schema of a single object gives better messages than one of all
        # objects.
        part = {"$defs": schema["$defs"], "$ref": "#/$defs/" + name}
        with open(report, encoding="utf-8") as file:
            value = json.load(file)
        for error in Draft202012Validator(part).iter_errors(value):
            print(report, error.json_path, error.message[:200])
        if not Draft202012Validator(schema).is_valid(value):
            print(report, "is none of the reports")


main(*sys.argv[1:])
