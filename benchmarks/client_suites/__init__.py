"""The test suites of client libraries, run against a served cluster."""
