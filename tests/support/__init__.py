"""What tests share: studies, servers, samples, strategies."""
