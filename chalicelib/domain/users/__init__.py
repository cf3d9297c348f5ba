"""What users have and choose, without storage: roles, languages, looks."""
