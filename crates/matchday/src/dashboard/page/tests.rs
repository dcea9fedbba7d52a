//! Pages of leagues that are at hand, without HTTP.
