package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

// The tokens by which the player knows its manager and its referees. Both follow from the token that the manager gave
// the player, which therefore never has to be shown to a referee.

const (
	refereeToPlayer = "referee-to-player"
	playerToReferee = "player-to-referee"
)

// noticeToken is what the manager shows in its notices.
func noticeToken(leagueToken, leagueID string) string {
	return derived(leagueToken, "league_manager", "notice", leagueID, "", "", "")
}

// matchToken is what referee and player show each other in one attempt at a match, whose number ends the
// conversation id.
func matchToken(leagueToken, leagueID, matchID, conversationID, direction string) string {
	number, err := strconv.ParseUint(conversationID[strings.LastIndex(conversationID, "-")+1:], 10, 32)
	if err != nil {
		number = 1
	}
	attempt := make([]byte, 4)
	binary.BigEndian.PutUint32(attempt, uint32(number))
	return derived(leagueToken, strings.ToLower(matchID), "match", leagueID, matchID, string(attempt), direction)
}

// same compares in constant time, so that nobody can guess a token digit by digit.
func same(shown, expected string) bool {
	return hmac.Equal([]byte(shown), []byte(expected))
}

func derived(leagueToken, owner string, parts ...string) string {
	key := sha256.Sum256([]byte(leagueToken))
	mac := hmac.New(sha256.New, key[:])
	for _, part := range parts {
		length := make([]byte, 8)
		binary.BigEndian.PutUint64(length, uint64(len(part)))
		mac.Write(length)
		mac.Write([]byte(part))
	}
	return "tok_" + owner + "_" + hex.EncodeToString(mac.Sum(nil))
}
