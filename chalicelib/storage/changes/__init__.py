"""What is written: transactions, and changes of any size that count at once."""
