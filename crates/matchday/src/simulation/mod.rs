//! What `matchday simulate` adds to the simulation itself: programs as strategies, how far it has come, reports and plots.

pub(crate) mod oracle;
pub(crate) mod plots;
pub(crate) mod progress;
pub(crate) mod render;
pub(crate) mod report;
