"""Rules of clients: which partition a record goes to, what makes a batch a duplicate."""
