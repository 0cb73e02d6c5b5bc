"""The report of an audit: its page, its summary in words, its methods section."""
