"""Text logs of brokers, controllers and ZooKeeper: what their lines say, as values with times.

``patterns`` is the table of the lines that are recognized, ``facts`` what they mean.
:func:`sessions.postmortem.text_logs.merging.find_text_logs` reads the logs of several nodes as one.
"""
