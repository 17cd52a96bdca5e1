"""The screens: each one arranges panes, and says what its keys do where a pane does not."""
