"""Pages of items whose encrypted descriptions clients write anew, for another key or at first."""
