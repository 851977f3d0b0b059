"""How every tree is grown, level by level: what a node asks, when it stops, what a leaf predicts."""
