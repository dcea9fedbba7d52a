//! The `matchday` command.

fn main() {}
