package main

import "math/rand"

// How this player chooses. This is the file to change.

// Past is a match that is over. A choice is empty where there was none, Number is 0 where none was drawn.
type Past struct {
	MatchID    string
	OpponentID string
	Mine       string
	Theirs     string
	Number     int
}

// Turn is what is known when a choice is due.
type Turn struct {
	MatchID    string
	OpponentID string
	RoundID    int
	History    []Past         // oldest first
	Options    []any          // every legal move, as encoding/json reads it: numbers are float64
	Context    map[string]any // what the referee shows: boardRows(turn.Context) is the board, in games that have one
}

// choose returns one of turn.Options. It is called once for each turn, in a goroutine of its own, and has thinkingTime. If
// it panics, takes longer or returns anything else, the choice is left to chance.
func choose(turn Turn) any {
	return turn.Options[rand.Intn(len(turn.Options))]
}
