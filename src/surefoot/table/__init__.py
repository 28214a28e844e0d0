"""Rollouts as one table: its columns and cells, what is paired, clustered and stratified; never a statistic."""
