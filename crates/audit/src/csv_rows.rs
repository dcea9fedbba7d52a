//! Writes CSV with a header row. All CSV is written here, to prevent formula injection in spreadsheets. Pure.

use csv::{ReaderBuilder, Writer};
use matchday_core::protocol::Untrusted;
use serde::Serialize;

#[expect(clippy::disallowed_methods, reason = "the cells are escaped here")]
pub fn csv<R: Serialize>(rows: impl IntoIterator<Item = R>) -> Result<String, csv::Error> {
    let mut plain = Writer::from_writer(Vec::new());
    for row in rows {
        plain.serialize(row)?;
    }
    let plain = plain.into_inner().map_err(|error| error.into_error())?;
    let mut escaped = Writer::from_writer(Vec::new());
    // The plain CSV is read back, so that every cell is escaped, whatever the type of the rows.
    for record in ReaderBuilder::new()
        .has_headers(false)
        .from_reader(plain.as_slice())
        .records()
    {
        escaped.write_record(record?.iter().map(|cell| Untrusted::new(cell).csv_cell()))?;
    }
    let escaped = escaped.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&escaped).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        points: i32,
    }

    #[test]
    fn no_cell_of_any_column_is_a_formula() {
        let rows = [
            Row {
                name: "=HYPERLINK(\"http://x\",\"y\")",
                points: -3,
            },
            Row {
                name: "a,\"b\"\n",
                points: 1,
            },
        ];
        let expected =
            "name,points\n\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",-3\n\"a,\"\"b\"\"\\n\",1\n";
        assert_eq!(csv(rows).unwrap(), expected);
    }

    #[test]
    fn without_rows_there_is_nothing() {
        assert_eq!(csv(Vec::<Row>::new()).unwrap(), "");
    }
}
