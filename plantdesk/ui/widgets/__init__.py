"""Widgets that know no feature of PlantDesk."""
