"""Broken programs that ``tdbg demo`` trains; each module's docstring tells the story of its bug."""
