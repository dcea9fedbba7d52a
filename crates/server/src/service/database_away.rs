//! A failure that passes when the database answers again, and what callers are told of it. Values only.

use matchday_runtime::StartError;
use matchday_store::StoreError;

/// Anyone may ask, and why it is away may say where it is.
pub(super) const DATABASE_AWAY: &str = "the database cannot be reached: try again in a moment";

/// Whether the database did not answer.
pub(super) fn is_unreachable(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let replayed = cause.downcast_ref().and_then(|cause| match cause {
            StartError::Unreadable { error, .. } => Some(error),
            _ => None,
        });
        let found = cause.downcast_ref().or(replayed);
        matches!(found, Some(StoreError::Unreachable { .. }))
    })
}
