"""Pure maths from measured curves to counts of servers; values in, values out."""
