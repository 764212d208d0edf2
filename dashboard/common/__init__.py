"""What every room of the dashboard uses: fields, names and times that a database can hold."""
