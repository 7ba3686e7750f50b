"""The clean-up dialog. Each page cleans up something: similar plants, similar tags, or texts of names and notes."""
