package main

import (
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"reflect"
	"strings"
	"sync"
	"time"
)

const (
	game   = "even_odd"
	parity = "choose_parity"
	// A referee waits 30 s for a choice. What the network and a busy machine need comes off that.
	thinkingTime = 10 * time.Second
)

// Message is a league message. Fields that nobody here knows are left out when it is read.
type Message struct {
	Protocol       string `json:"protocol"`
	MessageType    string `json:"message_type"`
	Sender         string `json:"sender"`
	Timestamp      string `json:"timestamp"`
	ConversationID string `json:"conversation_id"`
	AuthToken      string `json:"auth_token,omitempty"`
	MatchID        string `json:"match_id,omitempty"`
	PlayerID       string `json:"player_id,omitempty"`

	// What the player says.
	ArrivalTimestamp    string    `json:"arrival_timestamp,omitempty"`
	Accept              *bool     `json:"accept,omitempty"`
	ParityChoice        any       `json:"parity_choice,omitempty"`
	MoveData            *moveData `json:"move_data,omitempty"`
	Nonce               string    `json:"nonce,omitempty"`
	ErrorCode           string    `json:"error_code,omitempty"`
	ErrorName           string    `json:"error_name,omitempty"`
	ErrorDescription    string    `json:"error_description,omitempty"`
	ErrorMessage        string    `json:"error_message,omitempty"`
	OriginalMessageType string    `json:"original_message_type,omitempty"`
	PlayerMeta          *meta     `json:"player_meta,omitempty"`

	// What it is told.
	GameType    string         `json:"game_type,omitempty"`
	OpponentID  string         `json:"opponent_id,omitempty"`
	RoundID     int            `json:"round_id,omitempty"`
	Context     map[string]any `json:"context,omitempty"`
	MoveRequest *moveRequest   `json:"move_request,omitempty"`
	GameResult  *gameResult    `json:"game_result,omitempty"`
	Matches     []announced    `json:"matches,omitempty"`

	// What the manager answers to a registration.
	Status      string `json:"status,omitempty"`
	Reason      string `json:"reason,omitempty"`
	LeagueID    string `json:"league_id,omitempty"`
	MatchTokens bool   `json:"match_tokens,omitempty"`
	Retryable   bool   `json:"retryable,omitempty"`
}

type meta struct {
	DisplayName     string   `json:"display_name"`
	Version         string   `json:"version"`
	GameTypes       []string `json:"game_types"`
	ContactEndpoint string   `json:"contact_endpoint"`
}

type moveData struct {
	MoveType string `json:"move_type"`
	Choice   any    `json:"choice"`
}

type moveRequest struct {
	MoveType     string         `json:"move_type"`
	ValidOptions []any          `json:"valid_options"`
	Context      map[string]any `json:"context"`
}

type gameResult struct {
	Choices     map[string]string `json:"choices"`
	DrawnNumber int               `json:"drawn_number"`
	Reason      string            `json:"reason"`
}

type announced struct {
	MatchID     string `json:"match_id"`
	MatchTokens *bool  `json:"match_tokens"`
}

type received struct {
	Status string `json:"status"`
}

// refusal is why a league message is not answered, with the league's code for it.
type refusal struct{ code, name, words string }

// match is what must not be forgotten about a match. The nonce is the player's share in the draw: nobody knows the number
// before it is sent.
type match struct {
	mu         sync.Mutex
	opponentID string
	choices    map[string]any // by what was asked
	nonce      string
}

// Agent is what the player knows, and what it says. It touches no network.
type Agent struct {
	choose func(Turn) any

	mu           sync.Mutex
	me           *Message // the manager's answer to the registration
	withoutToken map[string]bool
	matches      map[string]*match
	history      []Past
}

func newAgent(choose func(Turn) any) *Agent {
	return &Agent{choose: choose, withoutToken: map[string]bool{}, matches: map[string]*match{}}
}

// registered keeps what LEAGUE_REGISTER_RESPONSE says.
func (a *Agent) registered(response *Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.me = response
}

func (a *Agent) identity() *Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.me
}

// receive answers a league message, as it came in params.
func (a *Agent) receive(params json.RawMessage) any {
	var message Message
	err := json.Unmarshal(params, &message)
	me := a.identity()
	answer, refused := any(nil), &refusal{"E002", "INVALID_MESSAGE_FORMAT", fmt.Sprint(err)}
	if err == nil {
		answer, refused = a.answerMessage(me, &message)
	}
	if refused == nil {
		return answer
	}
	log.Printf("refused %s of %s: %s %s", message.MessageType, message.Sender, refused.code, refused.words)
	id, conversation := "unregistered", message.ConversationID
	if me != nil {
		id = me.PlayerID
	}
	if conversation == "" {
		conversation = "conv-unknown"
	}
	said := envelope("LEAGUE_ERROR", id, conversation)
	said.ErrorCode, said.ErrorName, said.ErrorDescription = refused.code, refused.name, refused.name
	said.ErrorMessage, said.OriginalMessageType = refused.words, message.MessageType
	return said
}

func (a *Agent) answerMessage(me, message *Message) (any, *refusal) {
	if message.Protocol != "league.v2" {
		return nil, &refusal{"E018", "PROTOCOL_VERSION_MISMATCH", "protocol: expected league.v2"}
	}
	switch message.MessageType {
	case "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_MOVE_CALL", "GAME_OVER", "GAME_ERROR":
		if refused := a.trustReferee(me, message); refused != nil {
			return nil, refused
		}
		return a.play(me, message)
	case "ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED", "LEAGUE_ERROR":
		if refused := trustManager(me, message); refused != nil {
			return nil, refused
		}
		a.prepare(message)
	}
	return received{"received"}, nil
}

func (a *Agent) play(me, message *Message) (any, *refusal) {
	switch message.MessageType {
	case "GAME_INVITATION":
		a.match(message.MatchID, message.OpponentID)
		accept := message.GameType == game
		said := reply(me, message, "GAME_JOIN_ACK")
		said.ArrivalTimestamp, said.Accept = now(), &accept
		return said, nil
	case "CHOOSE_PARITY_CALL":
		said := reply(me, message, "CHOOSE_PARITY_RESPONSE")
		said.ParityChoice, said.Nonce = a.choice(message, parity, []any{"even", "odd"}, message.Context)
		return said, nil
	case "GAME_MOVE_CALL":
		// A turn of any game: one of the legal moves. A referee may ask for even or odd in this way, too.
		asked := message.MoveRequest
		if asked == nil || len(asked.ValidOptions) == 0 {
			words := "move_request.valid_options: expected the legal moves"
			return nil, &refusal{"E003", "MISSING_REQUIRED_FIELD", words}
		}
		question := parity
		if asked.MoveType != parity {
			written, _ := json.Marshal(asked) // It was read from JSON.
			question = string(written)
		}
		said := reply(me, message, "GAME_MOVE_RESPONSE")
		choice, nonce := a.choice(message, question, asked.ValidOptions, asked.Context)
		said.GameType, said.MoveData, said.Nonce = game, &moveData{asked.MoveType, choice}, nonce
		return said, nil
	case "GAME_OVER":
		a.learn(me.PlayerID, message)
	default:
		log.Printf("%s %s: %s", message.MessageType, message.ErrorCode, message.ErrorMessage)
	}
	return received{"received"}, nil
}

func (a *Agent) learn(me string, over *Message) {
	result := over.GameResult
	if result == nil {
		return
	}
	past := Past{MatchID: over.MatchID, Mine: result.Choices[me], Number: result.DrawnNumber}
	past.OpponentID = a.match(over.MatchID, "").opponentID
	for id, choice := range result.Choices {
		if id != me {
			past.OpponentID, past.Theirs = id, choice
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range a.history {
		if known.MatchID == past.MatchID {
			return
		}
	}
	a.history = append(a.history, past)
	log.Printf("%s is over: %s", over.MatchID, result.Reason)
}

func (a *Agent) prepare(notice *Message) {
	if notice.MessageType == "LEAGUE_ERROR" {
		log.Printf("LEAGUE_ERROR %s: %s", notice.ErrorCode, notice.ErrorMessage)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, match := range notice.Matches {
		if match.MatchTokens != nil && !*match.MatchTokens {
			a.withoutToken[match.MatchID] = true
		}
	}
}

// The choice

func (a *Agent) match(id, opponentID string) *match {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.matches[id]
	if known == nil {
		known = &match{opponentID: opponentID, choices: map[string]any{}, nonce: randomHex(16)}
		a.matches[id] = known
	}
	return known
}

// choice gives the same choice and nonce whenever the same is asked: the first answer may have been lost.
func (a *Agent) choice(message *Message, question string, options []any, context map[string]any) (any, string) {
	match := a.match(message.MatchID, "")
	match.mu.Lock()
	defer match.mu.Unlock()
	if _, made := match.choices[question]; !made {
		turn := Turn{MatchID: message.MatchID, OpponentID: match.opponentID, RoundID: message.RoundID}
		turn.Options, turn.Context = options, context
		if opponent, ok := context["opponent_id"].(string); ok {
			turn.OpponentID = opponent
		}
		if round, ok := context["round_id"].(float64); ok {
			turn.RoundID = int(round)
		}
		a.mu.Lock()
		turn.History = append(turn.History, a.history...)
		a.mu.Unlock()
		match.choices[question] = a.decide(turn)
	}
	return match.choices[question], match.nonce
}

func (a *Agent) decide(turn Turn) any {
	decided := make(chan any, 1)
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				log.Printf("%s: the strategy panicked: %v", turn.MatchID, problem)
				decided <- nil
			}
		}()
		decided <- a.choose(turn)
	}()
	var choice any
	select {
	case choice = <-decided:
	case <-time.After(thinkingTime):
		log.Printf("%s: the strategy gave nothing in %s", turn.MatchID, thinkingTime)
	}
	for _, option := range turn.Options {
		if reflect.DeepEqual(option, choice) {
			return choice
		}
	}
	log.Printf("%s: the strategy gave %v. Chance decides.", turn.MatchID, choice)
	return turn.Options[rand.Intn(len(turn.Options))]
}

// Who speaks

func (a *Agent) trustReferee(me, message *Message) *refusal {
	switch {
	case message.MatchID == "":
		return &refusal{"E003", "MISSING_REQUIRED_FIELD", "match_id: expected a text, got nothing"}
	case message.ConversationID == "":
		return &refusal{"E003", "MISSING_REQUIRED_FIELD", "conversation_id: expected a text, got nothing"}
	case me == nil:
		return &refusal{"E008", "INVALID_STATE", "this player is not registered yet"}
	case !strings.HasPrefix(message.Sender, "referee:"):
		return &refusal{"E012", "AUTH_TOKEN_INVALID", "only a referee may send this"}
	}
	a.mu.Lock()
	cannotProve := a.withoutToken[message.MatchID]
	a.mu.Unlock()
	if !me.MatchTokens || cannotProve {
		return nil
	}
	return expect(message, tokenOf(me, message, refereeToPlayer))
}

func trustManager(me, message *Message) *refusal {
	if me == nil || !me.MatchTokens {
		return nil
	}
	return expect(message, noticeToken(me.AuthToken, me.LeagueID))
}

func expect(message *Message, token string) *refusal {
	if message.AuthToken == "" {
		return &refusal{"E011", "AUTH_TOKEN_MISSING", "auth_token: expected the token made for this, got none"}
	}
	if !same(message.AuthToken, token) {
		return &refusal{"E012", "AUTH_TOKEN_INVALID", "auth_token: not the one that proves who sends this"}
	}
	return nil
}

func tokenOf(me, message *Message, direction string) string {
	return matchToken(me.AuthToken, me.LeagueID, message.MatchID, message.ConversationID, direction)
}

// What it says

func reply(me, asked *Message, messageType string) *Message {
	said := envelope(messageType, me.PlayerID, asked.ConversationID)
	said.MatchID, said.PlayerID, said.AuthToken = asked.MatchID, me.PlayerID, me.AuthToken
	if me.MatchTokens {
		said.AuthToken = tokenOf(me, asked, playerToReferee)
	}
	return said
}

func envelope(messageType, playerID, conversationID string) *Message {
	return &Message{
		Protocol:       "league.v2",
		MessageType:    messageType,
		Sender:         "player:" + playerID,
		Timestamp:      now(),
		ConversationID: conversationID,
	}
}

func now() string {
	return time.Now().UTC().Format("2006-01-02T15:04:05Z")
}

func randomHex(length int) string {
	bytes := make([]byte, length)
	if _, err := crand.Read(bytes); err != nil {
		panic(err)
	}
	return hex.EncodeToString(bytes)
}
