package main

import (
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"reflect"
	"runtime/debug"
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
	LeagueID    string         `json:"league_id,omitempty"`
	RoundID     any            `json:"round_id,omitempty"`
	Context     map[string]any `json:"context,omitempty"`
	MoveRequest *moveRequest   `json:"move_request,omitempty"`
	GameResult  *gameResult    `json:"game_result,omitempty"`
	Matches     []announced    `json:"matches,omitempty"`

	// What the manager answers to a registration.
	Status      string `json:"status,omitempty"`
	Reason      string `json:"reason,omitempty"`
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
	Choices     map[string]any `json:"choices"`
	DrawnNumber any            `json:"drawn_number"`
	Reason      string         `json:"reason"`
}

// matchKey is how a match is known: a season has a league each night, and the first match of each is R1M1.
type matchKey struct{ leagueID, matchID string }

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
	withoutToken map[matchKey]bool
	matches      map[matchKey]*match
	history      []Past
	over         map[matchKey]bool
}

func newAgent(choose func(Turn) any) *Agent {
	return &Agent{
		choose:       choose,
		withoutToken: map[matchKey]bool{},
		matches:      map[matchKey]*match{},
		over:         map[matchKey]bool{},
	}
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
	if me != nil && message.LeagueID == "" {
		message.LeagueID = me.LeagueID // Who does not say it means the league that spoke last.
	}
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
		if refused := a.trustManager(me, message); refused != nil {
			return nil, refused
		}
		a.prepare(message)
	}
	return received{"received"}, nil
}

func (a *Agent) play(me, message *Message) (any, *refusal) {
	switch message.MessageType {
	case "GAME_INVITATION":
		match := a.match(message)
		match.mu.Lock()
		match.opponentID = message.OpponentID
		match.mu.Unlock()
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
	past := Past{MatchID: over.MatchID}
	past.Mine, _ = result.Choices[me].(string)
	number, _ := result.DrawnNumber.(float64)
	past.Number = int(number)
	match := a.match(over)
	match.mu.Lock()
	past.OpponentID = match.opponentID
	match.mu.Unlock()
	for id, choice := range result.Choices {
		if id != me {
			past.OpponentID = id
			past.Theirs, _ = choice.(string)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over[over.key()] {
		return
	}
	a.over[over.key()] = true
	a.history = append(a.history, past)
	why := over.Reason
	if why == "" {
		why = result.Reason
	}
	log.Printf("%s is over: %s", over.MatchID, why)
}

func (a *Agent) prepare(notice *Message) {
	if notice.MessageType == "LEAGUE_ERROR" {
		log.Printf("LEAGUE_ERROR %s: %s", notice.ErrorCode, notice.ErrorMessage)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, match := range notice.Matches {
		if match.MatchTokens != nil && !*match.MatchTokens {
			a.withoutToken[matchKey{notice.LeagueID, match.MatchID}] = true
		}
	}
}

// The choice

func (m *Message) key() matchKey {
	return matchKey{m.LeagueID, m.MatchID}
}

func (a *Agent) match(message *Message) *match {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.matches[message.key()]
	if known == nil {
		known = &match{choices: map[string]any{}, nonce: randomHex(16)}
		a.matches[message.key()] = known
	}
	return known
}

// choice gives the same choice and nonce whenever the same is asked: the first answer may have been lost.
func (a *Agent) choice(message *Message, question string, options []any, context map[string]any) (any, string) {
	match := a.match(message)
	match.mu.Lock()
	defer match.mu.Unlock()
	if _, made := match.choices[question]; !made {
		turn := Turn{MatchID: message.MatchID, OpponentID: match.opponentID, Options: options, Context: context}
		if opponent, ok := context["opponent_id"].(string); ok {
			turn.OpponentID = opponent
		}
		for _, round := range []any{message.RoundID, context["round_id"]} {
			if number, ok := round.(float64); ok {
				turn.RoundID = int(number)
			}
		}
		a.mu.Lock()
		turn.History = append(turn.History, a.history...)
		a.mu.Unlock()
		match.choices[question] = a.decide(turn)
	}
	return match.choices[question], match.nonce
}

func (a *Agent) decide(turn Turn) any {
	decided, failed := make(chan any, 1), make(chan string, 1)
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				failed <- fmt.Sprintf("panicked: %v\n%s", problem, debug.Stack())
			}
		}()
		decided <- a.choose(turn)
	}()
	var why string
	select {
	case choice := <-decided:
		for _, option := range turn.Options {
			if reflect.DeepEqual(option, choice) {
				return choice
			}
		}
		why = fmt.Sprintf("returned %v, which is no legal move", choice)
	case why = <-failed:
	case <-time.After(thinkingTime):
		why = fmt.Sprintf("took longer than %s", thinkingTime)
	}
	log.Printf("%s: a random move instead of the strategy's, which %s", turn.MatchID, why)
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
	cannotProve := a.withoutToken[message.key()]
	a.mu.Unlock()
	if !me.MatchTokens || cannotProve {
		return nil
	}
	return expect(message, tokenOf(me, message, refereeToPlayer))
}

func (a *Agent) trustManager(me, message *Message) *refusal {
	if me == nil || !me.MatchTokens {
		return nil
	}
	refused := expect(message, noticeToken(me.AuthToken, message.LeagueID))
	if refused == nil {
		in := *me
		in.LeagueID = message.LeagueID
		a.registered(&in)
	}
	return refused
}

func expect(message *Message, token string) *refusal {
	if message.AuthToken == "" {
		return &refusal{"E011", "AUTH_TOKEN_MISSING", "auth_token: expected the token for this message, got none"}
	}
	if !same(message.AuthToken, token) {
		return &refusal{"E012", "AUTH_TOKEN_INVALID", "auth_token: wrong token for this message"}
	}
	return nil
}

func tokenOf(me, message *Message, direction string) string {
	return matchToken(me.AuthToken, message.LeagueID, message.MatchID, message.ConversationID, direction)
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
