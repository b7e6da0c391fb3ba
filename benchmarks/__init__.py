"""How fast the zoo is beside what people would use instead; see README.md. Not part of the package."""
