"""What is shared: folders and resources, where they lie, what they are called, who has them."""
