//! The one language of design: what the dashboard, the pages of a service and the report share.

/// Type, space and colour, by day and by night, as custom properties.
pub const TOKENS: &str = include_str!("../templates/tokens.css");

/// What pages are made of: head, buttons, cards, pills, names, tables, boards.
pub const COMPONENTS: &str = include_str!("../templates/components.css");
