"""The model of changes of many rows: checked by TLC, and walked for schedules.

`make model` checks `docs/model/Operations.tla` as a whole, and without each condition in turn.
`schedules` makes of the states that TLC finds what a test can have the real code do.
"""
