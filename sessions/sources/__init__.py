"""Where events come from: a live cluster, a recording, two at once."""
