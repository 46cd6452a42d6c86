"""What tests/bench/peers is made of."""
