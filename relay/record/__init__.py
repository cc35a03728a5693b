"""Records any command as a harness session: its drafts, stamped by the kit's sink, to a file, a stream or a topic."""
