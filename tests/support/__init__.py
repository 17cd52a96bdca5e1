"""What tests share: clusters on the bench, random scripts, ways to look."""
