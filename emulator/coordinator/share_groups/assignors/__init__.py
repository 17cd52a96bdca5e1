"""The assignor of share groups, by release."""
