"""Find and replace, and other changes of the texts of many plants, with a preview of each."""
