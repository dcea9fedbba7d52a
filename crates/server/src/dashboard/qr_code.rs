//! The address of the page as a QR code, for those who see it on a wall. Pure.

use qrcodegen::{QrCode, QrCodeEcc};
use serde::Serialize;
use std::fmt::Write;

/// The longest address that is drawn.
const ADDRESS_MAX: usize = 500;

/// The dark modules as the path of an SVG with `size` units a side.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct QrSvg {
    size: i32,
    path: String,
}

/// Only addresses of pages are drawn.
pub(super) fn of_address(address: &str) -> Result<QrSvg, String> {
    if !address.starts_with("http://") && !address.starts_with("https://") {
        return Err(
            "text is the address of a page, and begins with http:// or https://".to_owned(),
        );
    }
    if address.len() > ADDRESS_MAX {
        return Err(format!(
            "text has at most {ADDRESS_MAX} bytes, and this has {}",
            address.len()
        ));
    }
    let code =
        QrCode::encode_text(address, QrCodeEcc::Medium).map_err(|error| error.to_string())?;
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|x| code.get_module(*x, y)) {
            let _ = write!(path, "M{x} {y}h1v1h-1z");
        }
    }
    Ok(QrSvg {
        size: code.size(),
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_drawn_and_nothing_else() {
        let code = of_address("http://127.0.0.1:8000/").unwrap();
        assert_eq!(code.size, 25);
        // The finder pattern in the top left corner.
        assert!(
            code.path.starts_with("M0 0h1v1h-1zM1 0h1v1h-1z"),
            "{}",
            code.path
        );
        assert!(of_address("javascript:alert(1)").is_err());
        assert!(of_address(&format!("http://{}", "a".repeat(500))).is_err());
    }
}
