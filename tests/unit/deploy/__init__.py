"""What is shipped beside the packages."""
