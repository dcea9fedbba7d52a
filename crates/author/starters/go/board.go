package main

import (
	"fmt"
	"math"
	"strings"
)

// boardRows gives the cells from the top, row by row, with empty text for an empty cell; no rows if the game has no board.
func boardRows(context map[string]any) [][]string {
	cells, columns := boardCells(context)
	var rows [][]string
	for at := 0; columns > 0 && at+columns <= len(cells); at += columns {
		var row []string
		for _, cell := range cells[at : at+columns] {
			if cell == nil || cell == "." {
				cell = ""
			}
			row = append(row, fmt.Sprint(cell))
		}
		rows = append(rows, row)
	}
	return rows
}

func boardCells(context map[string]any) ([]any, int) {
	if view, ok := context["view"].(map[string]any); ok && view["kind"] == "grid" {
		cells, _ := view["cells"].([]any)
		columns, _ := view["columns"].(float64)
		return cells, int(columns)
	}
	board, _ := context["board"].([]any)
	if len(board) == 0 {
		return nil, 0
	}
	first, isText := board[0].(string)
	if !isText || len(first) < 2 {
		return board, int(math.Sqrt(float64(len(board))))
	}
	var cells []any
	for _, row := range board {
		for _, cell := range fmt.Sprint(row) {
			cells = append(cells, string(cell))
		}
	}
	return cells, len(first)
}

// showBoard writes the rows as text.
func showBoard(rows [][]string) string {
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, cell := range row {
			if cell == "" {
				cell = "."
			}
			cells = append(cells, cell)
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return strings.Join(lines, "\n")
}
