"""Speed: about thirty ratios that users would feel, each with a limit."""
