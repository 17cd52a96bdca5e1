"""A broker's replicas: leaders, followers and their fetchers, and requests that wait for them."""
