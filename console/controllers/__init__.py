"""What the application does for its screens: navigation, time travel, notices, the terminal."""
