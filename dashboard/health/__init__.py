"""How Evenkeel itself is: one address for load balancers, one for Prometheus."""
