"""From what is unsure of demand, mix, capacity and reserve to counts and money, by worlds drawn with a stated seed."""
