"""Records in Kafka's three formats: message sets of format 0 and 1, record batches of format 2.

A broker treats a producer's records as bytes of any format (:mod:`.memory_records`); they are
decoded only for display, or for a client that is too old for their format.
"""
