"""Speed and size of aucmax as ratios against its peers, measured in one run."""
