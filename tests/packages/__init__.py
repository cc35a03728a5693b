"""What is built for users: the two distributions."""
