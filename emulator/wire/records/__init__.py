"""Records in Kafka's three formats: message sets of format 0 and 1, and record batches of format 2.

A broker treats what a producer sends as bytes of any format (:mod:`.memory_records`); records are
decoded only to be shown, or for a client that is too old for their format.
"""
