// A player of league.v2: registers with a manager, and answers referees on POST /mcp. Needs Go 1.19 and nothing else.
// What you will want to change is in strategy.go.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const (
	name         = "{{NAME}}"
	version      = "1.0.0"
	retryTime    = 2 * time.Second
	bodyBytesMax = 1024 * 1024
)

// ServeHTTP answers on POST /mcp.
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/mcp" || r.Method != http.MethodPost {
		send(w, http.StatusNotFound, failure(nil, -32600, "agents listen for POST at /mcp"))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytesMax))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		words := fmt.Sprintf("at most %d bytes are read", bodyBytesMax)
		send(w, http.StatusRequestEntityTooLarge, failure(nil, -32600, words))
		return
	}
	if err != nil {
		return // The connection broke off while the request came in: nobody is left to be answered.
	}
	if answer := a.answer(body); answer != nil {
		send(w, http.StatusOK, answer)
	} else {
		w.WriteHeader(http.StatusAccepted)
	}
}

func send(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // It fails only if the connection has broken off.
}

// register registers with the manager, and keeps trying while there is none. The error is why it will not have us.
func register(a *Agent, manager, displayName, endpoint, store string) error {
	message := envelope("LEAGUE_REGISTER_REQUEST", "unregistered", "conv-register-"+randomHex(8))
	message.PlayerMeta = &meta{displayName, version, []string{game}, endpoint}
	// A token from before a restart: the manager gives the old place back.
	place := manager
	if !strings.Contains(manager, "/join/") { // A join code says who this is.
		place += " as " + displayName
	}
	message.AuthToken = storedTokens(store)[place]
	for waiting := false; ; waiting = true {
		result, err := post(manager, message)
		if err == nil && result.Status == "ACCEPTED" {
			a.registered(result)
			return keepToken(store, place, result.AuthToken)
		}
		if err == nil {
			err = errors.New(result.Reason + result.ErrorMessage)
			if !result.Retryable {
				return fmt.Errorf("the manager refuses this player: %w", err)
			}
		}
		if !waiting {
			log.Printf("no answer from %s yet (%v): trying again every %s", manager, err, retryTime)
		}
		time.Sleep(retryTime)
	}
}

func post(url string, message *Message) (*Message, error) {
	request := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": message}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: 10 * time.Second}
	came, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer came.Body.Close()
	var answer struct {
		Result *Message  `json:"result"`
		Error  *rpcError `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(came.Body, bodyBytesMax)).Decode(&answer); err != nil {
		return nil, err
	}
	switch {
	case answer.Result != nil:
		return answer.Result, nil
	case answer.Error != nil:
		return &Message{Reason: answer.Error.Message}, nil
	}
	return nil, errors.New("this is not the answer of a league manager")
}

func storedTokens(store string) map[string]string {
	tokens := map[string]string{}
	if stored, err := os.ReadFile(store); err == nil {
		_ = json.Unmarshal(stored, &tokens) // A file that is not ours holds no token of ours.
	}
	return tokens
}

// keepToken writes a new file in the place of the old one: a crash leaves one of them whole.
func keepToken(store, place, token string) error {
	tokens := storedTokens(store)
	tokens[place] = token
	kept, err := json.MarshalIndent(tokens, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(store+".new", kept, 0o600); err != nil {
		return err
	}
	return os.Rename(store+".new", store)
}

func setting(flagName, variable, fallback, usage string) *string {
	if value, found := os.LookupEnv(variable); found {
		fallback = value
	}
	return flag.String(flagName, fallback, usage+" [env: "+variable+"]")
}

func main() {
	listen := setting("listen", "MATCHDAY_LISTEN", "127.0.0.1:8101", "where to listen, HOST:PORT")
	manager := setting("manager", "MATCHDAY_MANAGER", "http://localhost:8000/mcp", "where the league manager listens")
	displayName := setting("name", "MATCHDAY_NAME", name, "what the player is called")
	advertise := setting("advertise", "MATCHDAY_ADVERTISE", "", "where others reach it, if not at its address")
	store := setting("store", "MATCHDAY_STORE", "agent.json", "keeps tokens for a restart")
	dial := flag.Bool("dial", os.Getenv("MATCHDAY_DIAL") == "on", "dial out to the league instead of listening [env: MATCHDAY_DIAL]")
	flag.Parse()
	rand.Seed(time.Now().UnixNano())

	agent := newAgent(choose)
	failed := make(chan error, 2)
	if *dial {
		mailbox, err := openMailbox(*manager)
		if err != nil {
			log.Fatal(err)
		}
		go func() { failed <- mailbox.serve(agent.answer) }()
		log.Print("called through the relay of the league")
		play(agent, *manager, *displayName, mailbox.endpoint, *store, failed)
		return
	}

	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	host, _, _ := net.SplitHostPort(*listen)
	if host == "" || host == "0.0.0.0" || host == "::" {
		host = "localhost"
	}
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	if *advertise == "" {
		*advertise = "http://" + net.JoinHostPort(host, port) + "/mcp"
	}

	server := http.Server{Handler: agent, ReadHeaderTimeout: 30 * time.Second, ReadTimeout: time.Minute}
	// The server listens before the player registers: the manager looks whether it is there.
	go func() { failed <- server.Serve(listener) }()
	log.Printf("listening on %s", listener.Addr())
	play(agent, *manager, *displayName, *advertise, *store, failed)
}

// play registers, and returns when it is told to stop or has failed.
func play(agent *Agent, manager, displayName, endpoint, store string, failed chan error) {
	go func() {
		if err := register(agent, manager, displayName, endpoint, store); err != nil {
			failed <- err
			return
		}
		log.Printf("registered as %s", agent.identity().PlayerID)
	}()

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	select {
	case err := <-failed:
		log.Fatal(err)
	case <-stop:
		log.Print("stopped")
	}
}
