"""The small problems that a solver meets in each iteration."""
