package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const (
	league  = "league_2025_even_odd"
	referee = "tok_r1m1_8aa0bf04930f5811e822092823e6f4c08f95eb5e2e20c20d894716ec522318cc"
	player  = "tok_r1m1_3845220ebebd1549dff420b3de925f10e9b44815a7dca78497e6672bf2103ee6"
	notice  = "tok_league_manager_bb02e302b7ffb96a2121afeef2f45c0bbb8ecee015d4a5d1c4e50942a0f34128"
)

var token = "tok_p01_" + strings.Repeat("0", 64)

var logged bytes.Buffer

// What a passing test logs is no news.
func TestMain(m *testing.M) {
	log.SetOutput(&logged)
	os.Exit(m.Run())
}

type object = map[string]any

func newPlayer(choose func(Turn) any) *Agent {
	agent := newAgent(choose)
	agent.registered(&Message{PlayerID: "P01", AuthToken: token, LeagueID: league, MatchTokens: true})
	return agent
}

func odd(Turn) any { return "odd" }

func message(messageType string, fields object) object {
	made := object{
		"protocol": "league.v2", "message_type": messageType, "sender": "referee:REF01",
		"timestamp": "2026-03-02T09:01:00Z", "conversation_id": "conv-r1m1-001", "auth_token": referee,
		"match_id": "R1M1",
	}
	for key, value := range fields {
		made[key] = value
	}
	return made
}

func call(t *testing.T, agent *Agent, body string) object {
	t.Helper()
	written, err := json.Marshal(agent.answer([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	var said object
	if err := json.Unmarshal(written, &said); err != nil {
		t.Fatal(err)
	}
	return said
}

func ask(t *testing.T, agent *Agent, params object) object {
	t.Helper()
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": 7, "method": "anything", "params": params})
	return call(t, agent, string(body))["result"].(object)
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestJoinsWhenInvited(t *testing.T) {
	said := ask(t, newPlayer(odd), message("GAME_INVITATION", object{"game_type": game, "opponent_id": "P02"}))
	for _, field := range []string{"timestamp", "arrival_timestamp"} {
		if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`).MatchString(said[field].(string)) {
			t.Errorf("%s: %v", field, said[field])
		}
		delete(said, field)
	}
	equal(t, said, object{
		"protocol": "league.v2", "message_type": "GAME_JOIN_ACK", "sender": "player:P01",
		"conversation_id": "conv-r1m1-001", "auth_token": player, "match_id": "R1M1", "player_id": "P01",
		"accept": true,
	})
}

func TestGivesWhatTheStrategyChoseAndTheSameAgain(t *testing.T) {
	calls := 0
	agent := newPlayer(func(Turn) any { calls++; return []any{"odd", "even"}[calls-1] })
	first := ask(t, agent, message("CHOOSE_PARITY_CALL", nil))
	second := ask(t, agent, message("CHOOSE_PARITY_CALL", nil))
	equal(t, first["message_type"], "CHOOSE_PARITY_RESPONSE")
	equal(t, first["parity_choice"], "odd")
	equal(t, []any{second["parity_choice"], second["nonce"]}, []any{"odd", first["nonce"]})
}

func TestChoosesByChanceIfTheStrategyFails(t *testing.T) {
	broken := map[string]func(Turn) any{
		"returned Even":    func(Turn) any { return "Even" },
		"panicked: broken": func(Turn) any { panic("broken") },
	}
	for why, choose := range broken {
		choice := ask(t, newPlayer(choose), message("CHOOSE_PARITY_CALL", nil))["parity_choice"]
		if choice != "even" && choice != "odd" {
			t.Errorf("chose %v", choice)
		}
		if !strings.Contains(logged.String(), why) {
			t.Errorf("%s is not in the log: %s", why, logged.String())
		}
	}
}

func TestMakesAMoveOfAnyGameAndTheSameAgain(t *testing.T) {
	agent := newPlayer(func(turn Turn) any { return turn.Options[len(boardRows(turn.Context))-3] })
	lines := []any{"..", "xo", "..", ".."}
	turns := []struct {
		context object
		choice  any
	}{
		{object{"board": []any{"X", nil, nil, nil, nil, nil, nil, nil, nil}}, 0.0},
		{object{"board": lines}, object{"to": 4.0}},
		{object{"view": object{"kind": "grid", "columns": 1, "cells": []any{"a", "", "b"}}}, 0.0},
	}
	for _, turn := range append(turns, turns...) {
		asked := object{"move_type": "place", "valid_options": []any{0, object{"to": 4}}, "context": turn.context}
		said := ask(t, agent, message("GAME_MOVE_CALL", object{"move_request": asked}))
		equal(t, []any{said["message_type"], said["game_type"]}, []any{"GAME_MOVE_RESPONSE", game})
		equal(t, said["move_data"], object{"move_type": "place", "choice": turn.choice})
	}
	equal(t, showBoard(boardRows(object{"board": lines})), ". .\nx o\n. .\n. .")
	wrong := ask(t, agent, message("GAME_MOVE_CALL", object{"move_request": object{"move_type": "place"}}))
	equal(t, wrong["error_code"], "E003")
}

func TestTellsTheStrategyHowEarlierMatchesEnded(t *testing.T) {
	var seen Turn
	agent := newPlayer(func(turn Turn) any { seen = turn; return "even" })
	result := object{"choices": object{"P01": "odd", "P02": "even"}, "drawn_number": 4, "reason": "4 is even"}
	ask(t, agent, message("GAME_OVER", object{"game_result": result}))
	context := object{"opponent_id": "P02", "round_id": 2.0}
	ask(t, agent, message("CHOOSE_PARITY_CALL", object{"context": context}))
	history := []Past{{"R1M1", "P02", "odd", "even", 4}}
	equal(t, seen, Turn{"R1M1", "P02", 2, history, []any{"even", "odd"}, context})
}

func TestPlaysTheNextLeagueOfASeasonWithoutRegisteringAgain(t *testing.T) {
	calls := 0
	agent := newPlayer(func(Turn) any { calls++; return []any{"odd", "even"}[calls-1] })
	tokenOf := func(direction string) string {
		return matchToken(token, "night_2", "R1M1", "conv-r1m1-001", direction)
	}
	first := ask(t, agent, message("CHOOSE_PARITY_CALL", object{"league_id": league}))
	next := object{"league_id": "night_2", "auth_token": tokenOf(refereeToPlayer)}
	second := ask(t, agent, message("CHOOSE_PARITY_CALL", next))
	equal(t, []any{first["parity_choice"], second["parity_choice"]}, []any{"odd", "even"})
	equal(t, second["auth_token"], tokenOf(playerToReferee))
	if first["nonce"] == second["nonce"] {
		t.Error("two matches have one nonce")
	}
	refused := ask(t, agent, message("CHOOSE_PARITY_CALL", object{"league_id": "night_2"}))
	equal(t, refused["error_code"], "E012")
}

func TestKeepsTheTokenOfEachPlace(t *testing.T) {
	store := filepath.Join(t.TempDir(), "agent.json")
	for place, kept := range map[string]string{"http://a/join/code/mcp": "tok_1", "http://b/mcp as Bob": "tok_2"} {
		if err := keepToken(store, place, kept); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, storedTokens(store)["http://a/join/code/mcp"], "tok_1")
}

func TestComputesTheTokensOfTheProtocol(t *testing.T) {
	equal(t, noticeToken(token, league), notice)
	equal(t, matchToken(token, league, "R1M1", "conv-r1m1-001", refereeToPlayer), referee)
	equal(t, matchToken(token, league, "R1M1", "conv-r1m1-001", playerToReferee), player)
}

func TestRefusesWhoCannotProveWhoItIs(t *testing.T) {
	refused := []struct {
		code  string
		asked object
	}{
		{"E011", message("CHOOSE_PARITY_CALL", object{"auth_token": nil})},
		{"E012", message("CHOOSE_PARITY_CALL", object{"auth_token": player})},
		{"E003", message("CHOOSE_PARITY_CALL", object{"match_id": nil})},
		{"E002", message("CHOOSE_PARITY_CALL", object{"match_id": 1})},
		{"E012", message("GAME_INVITATION", object{"sender": "player:P02"})},
		{"E012", message("LEAGUE_COMPLETED", nil)},
	}
	for _, one := range refused {
		said := ask(t, newPlayer(odd), one.asked)
		equal(t, []any{said["message_type"], said["error_code"]}, []any{"LEAGUE_ERROR", one.code})
	}
	said := ask(t, newPlayer(odd), message("LEAGUE_COMPLETED", object{"auth_token": notice}))
	equal(t, said, object{"status": "received"})
}

func TestSaysWhatIsWrongWithARequest(t *testing.T) {
	wrong := []struct {
		body string
		id   any
		code float64
	}{
		{`{`, nil, -32700},
		{`[]`, nil, -32600},
		{`{"jsonrpc": "2.0", "id": 1}`, 1.0, -32600},
		{`{"jsonrpc": "2.0", "id": {}, "method": "ping"}`, nil, -32600},
		{`{"jsonrpc": "2.0", "id": "a", "method": "dance"}`, "a", -32601},
		{`{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": [1]}`, 2.0, -32602},
	}
	for _, one := range wrong {
		said := call(t, newPlayer(odd), one.body)
		equal(t, []any{said["id"], said["error"].(object)["code"]}, []any{one.id, one.code})
	}
}

func TestAnswersBatchesAndNoNotifications(t *testing.T) {
	ping := `{"jsonrpc": "2.0", "method": "ping"}`
	equal(t, newPlayer(odd).answer([]byte(ping)), nil)
	batch := fmt.Sprintf(`[{"jsonrpc": "2.0", "id": 1, "method": "ping"}, %s]`, ping)
	said, _ := json.Marshal(newPlayer(odd).answer([]byte(batch)))
	equal(t, string(said), `[{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}]`)
}

func TestListensOnMcp(t *testing.T) {
	server := httptest.NewServer(newPlayer(odd))
	defer server.Close()
	body := `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`
	came, err := http.Post(server.URL+"/mcp", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer came.Body.Close()
	said, _ := io.ReadAll(came.Body)
	equal(t, came.Header.Get("Content-Type"), "application/json")
	equal(t, strings.TrimSpace(string(said)), `{"jsonrpc":"2.0","id":9007199254740993,"result":{"status":"ok"}}`)
}
