"""DynamoDB, which nothing above knows: reading, transactions, changes of any size."""
