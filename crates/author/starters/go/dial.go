package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"strings"
	"time"
)

// mailbox is for an agent that nobody can call, behind NAT or a firewall: the league's relay keeps its calls, and it fetches
// them and posts its answers. The wire format is in docs/protocol-relay.md of Matchday.
type mailbox struct {
	endpoint, url, token, client string
	seen                         int64
}

// The relay answers a poll after 25 s at the latest.
var poller = http.Client{Timeout: 35 * time.Second}

// openMailbox opens a mailbox at the league of this manager; a join code may be in its URL.
func openMailbox(manager string) (*mailbox, error) {
	base, code, _ := strings.Cut(strings.TrimSuffix(manager, "/mcp"), "/join/")
	status, body, err := request("POST", base+"/relay", code, nil)
	if err != nil {
		return nil, err
	}
	var opened struct {
		Mailbox         string `json:"mailbox"`
		RelayToken      string `json:"relay_token"`
		ContactEndpoint string `json:"contact_endpoint"`
	}
	if status != http.StatusCreated || json.Unmarshal(body, &opened) != nil {
		return nil, fmt.Errorf("HTTP %d from %s/relay: %s", status, base, body)
	}
	url := base + "/relay/" + opened.Mailbox
	return &mailbox{opened.ContactEndpoint, url, opened.RelayToken, randomHex(8), 0}, nil
}

type relayedCall struct {
	ID     int64  `json:"id"`
	LeftMS int64  `json:"left_ms"`
	Body   string `json:"body"`
	Closed string `json:"closed"`
}

// serve has answer answer every call. The error is why it cannot go on.
func (m *mailbox) serve(answer func([]byte) any) error {
	for pause := 100 * time.Millisecond; ; {
		status, lines, err := request("GET", fmt.Sprintf("%s/next?client=%s&after=%d", m.url, m.client, m.seen), m.token, nil)
		switch {
		case err == nil && status == http.StatusOK:
			decoder := json.NewDecoder(bytes.NewReader(lines))
			for call := (relayedCall{}); decoder.Decode(&call) == nil; call = (relayedCall{}) {
				if call.Closed == "taken_over" {
					return fmt.Errorf("another client has taken over this mailbox")
				}
				if call.ID > m.seen {
					m.seen = call.ID
					go m.reply(call, answer)
				}
			}
			pause = 100 * time.Millisecond
			continue
		case err == nil && (status == 401 || status == 404 || status == 409):
			return fmt.Errorf("HTTP %d: %s", status, lines)
		case err != nil:
			log.Printf("no connection to the league (%v): trying again", err)
		}
		time.Sleep(pause/2 + time.Duration(rand.Int63n(int64(pause/2))))
		if pause < 1600*time.Millisecond {
			pause *= 2
		}
	}
}

func (m *mailbox) reply(call relayedCall, answer func([]byte) any) {
	until := time.Now().Add(time.Duration(call.LeftMS) * time.Millisecond)
	status, body := http.StatusAccepted, []byte(nil)
	if answered := answer([]byte(call.Body)); answered != nil {
		status = http.StatusOK
		body, _ = json.Marshal(answered)
	}
	for time.Now().Before(until) {
		if _, _, err := request("POST", fmt.Sprintf("%s/answers/%d?status=%d", m.url, call.ID, status), m.token, body); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func request(method, url, token string, body []byte) (int, []byte, error) {
	asked, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	asked.Header.Set("Content-Type", "application/json")
	if token != "" {
		asked.Header.Set("Authorization", "Bearer "+token)
	}
	came, err := poller.Do(asked)
	if err != nil {
		return 0, nil, err
	}
	defer came.Body.Close()
	read, err := io.ReadAll(came.Body)
	return came.StatusCode, read, err
}
