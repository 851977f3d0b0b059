"""What drawings are made with."""
