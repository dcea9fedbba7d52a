package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"unicode/utf8"
)

// JSON-RPC 2.0: what is a request, and what is said to what is none.

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// answer is the response to a request body; nil if there is nothing to say.
func (a *Agent) answer(body []byte) any {
	if !utf8.Valid(body) || !json.Valid(body) {
		return failure(nil, -32700, "Parse error")
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil || len(batch) == 0 {
		if one := a.answerOne(body); one != nil {
			return one
		}
		return nil
	}
	var responses []*response
	for _, request := range batch {
		if one := a.answerOne(request); one != nil {
			responses = append(responses, one)
		}
	}
	if responses == nil {
		return nil
	}
	return responses
}

func (a *Agent) answerOne(body json.RawMessage) (said *response) {
	var request map[string]json.RawMessage
	if json.Unmarshal(body, &request) != nil || request == nil {
		return failure(nil, -32600, "Invalid Request: expected an object")
	}
	id, isCall := request["id"]
	if bytes.ContainsAny(id[:min(len(id), 1)], "{[tf") {
		return failure(nil, -32600, "Invalid Request: id must be a number, a text or null")
	}
	var version, method string
	if json.Unmarshal(request["jsonrpc"], &version) != nil || version != "2.0" ||
		json.Unmarshal(request["method"], &method) != nil || method == "" {
		return failure(id, -32600, `Invalid Request: expected "jsonrpc": "2.0" and a method`)
	}
	defer func() {
		if problem := recover(); problem != nil {
			log.Printf("%s failed: %v", method, problem)
			said = failure(id, -32603, "Internal error")
		}
		if !isCall {
			said = nil
		}
	}()
	result, failed := a.call(method, request["params"])
	if failed != nil {
		return failure(id, failed.Code, failed.Message)
	}
	return &response{Version: "2.0", ID: id, Result: result}
}

func (a *Agent) call(method string, params json.RawMessage) (any, *rpcError) {
	var fields map[string]json.RawMessage
	if params != nil && json.Unmarshal(params, &fields) != nil {
		return nil, &rpcError{-32602, "Invalid params: expected an object"}
	}
	if _, isMessage := fields["message_type"]; isMessage {
		return a.receive(params), nil
	}
	if method == "ping" {
		return received{"ok"}, nil
	}
	words := fmt.Sprintf("Method not found: %s, and no league message came with it", method)
	return nil, &rpcError{-32601, words}
}

// A nil id is written as null.
func failure(id json.RawMessage, code int, words string) *response {
	return &response{Version: "2.0", ID: id, Error: &rpcError{code, words}}
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
