"""What a company's directory says and how it is asked, without any connection."""
