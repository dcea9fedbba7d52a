"""The protocol as it is described."""
from student import Student

Student().serve()
