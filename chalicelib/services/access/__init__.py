"""May this actor do this with this item: grants, members of groups, secrets that leave logged."""
