"""The code as it is shipped: one archive, and a layer with the libraries."""
