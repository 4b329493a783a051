"""All that knows Hydra: the typed schema, building cells from configurations, and the launcher that runs a grid as one sweep."""
