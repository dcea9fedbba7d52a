//! A bitmap of braille characters for terminals: 2 by 4 dots in each. Pure.

#[derive(Debug)]
pub(crate) struct Braille {
    columns: usize,
    rows: usize,
    cells: Vec<u8>,
}

/// The bit of each dot, by column and row within a character.
const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

impl Braille {
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        Self {
            columns,
            rows,
            cells: vec![0; columns * rows],
        }
    }

    /// Width and height in dots.
    pub(crate) fn dots(&self) -> (usize, usize) {
        (self.columns * 2, self.rows * 4)
    }

    /// From the upper left.
    fn set(&mut self, x: usize, y: usize) {
        let bit = BITS
            .get(x % 2)
            .and_then(|column| column.get(y % 4))
            .copied()
            .unwrap_or(0);
        if x / 2 < self.columns
            && let Some(cell) = self.cells.get_mut(y / 4 * self.columns + x / 2)
        {
            *cell |= bit;
        }
    }

    /// In dots.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = (to.0 - from.0)
            .abs()
            .max((to.1 - from.1).abs())
            .ceil()
            .max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let x = from.0 + (to.0 - from.0) * share;
            let y = from.1 + (to.1 - from.1) * share;
            self.set(x.round().max(0.0) as usize, y.round().max(0.0) as usize);
        }
    }

    /// One line of text for each row.
    pub(crate) fn lines(&self) -> Vec<String> {
        let sign = |cell: &u8| match cell {
            0 => ' ',
            dots => char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' '),
        };
        self.cells
            .chunks(self.columns.max(1))
            .map(|row| row.iter().map(sign).collect())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_from_corner_to_corner_touches_both() {
        let mut grid = Braille::new(3, 2);
        grid.line((0.0, 7.0), (5.0, 0.0));
        assert_eq!(grid.lines(), [" ⢀⠎", "⡰⠁ "].map(str::to_owned));
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let mut grid = Braille::new(1, 1);
        grid.line((5.0, 0.0), (9.0, 9.0));
        assert_eq!(grid.lines(), [" ".to_owned()]);
    }
}
