"""What is wrong with word lists, before anything is measured with them."""
