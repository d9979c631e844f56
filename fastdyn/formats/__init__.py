"""Ways in: each file turns one kind of description into a Robot."""
