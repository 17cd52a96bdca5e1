"""The screens: each arranges panes, and runs the actions that its panes do not."""
