"""Declarations of the jobs' result tables: the schema that programs can rely on."""
