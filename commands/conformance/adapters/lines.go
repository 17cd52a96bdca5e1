// The part of an adapter in Go that is the same for every client: requests in, answers out.
// It is compiled together with each client's main.go.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

const (
	waits    = time.Hour // longer than the client's own timeouts, and than an answer may take, with any patience
	errorMax = 500
)

type offset struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

type record struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Key       string `json:"key,omitempty"`
	Value     string `json:"value"`
	Offset    int64  `json:"offset"`
}

type request struct {
	Do         string   `json:"do"`
	Settings   settings `json:"settings"`
	Records    []record `json:"records"`
	Topics     []string `json:"topics"`
	Partitions [][2]any `json:"partitions"`
	Ms         int64    `json:"ms"`
	Group      string   `json:"group"`
	How        string   `json:"how"`
	Offsets    []offset `json:"offsets"`
}

type answer map[string]any

type settings map[string]any

func main() {
	lines := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	a := &adapter{}
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		told := answer{}
		if err = json.Unmarshal(line, &asked); err == nil {
			err = a.answer(asked, told)
		}
		if err != nil {
			told["error"] = text(err)
		}
		encoded, _ := json.Marshal(told)
		out.Write(append(encoded, '\n'))
		out.Flush()
	}
}

func text(err error) string {
	s := err.Error()
	return s[:min(len(s), errorMax)]
}

// The version of the client library that is compiled in.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	return "?"
}

func (s settings) word(name string) string {
	value, is := s[name]
	if !is {
		return ""
	}
	return fmt.Sprint(value)
}

func (s settings) time(name string) time.Duration {
	ms, _ := s[name].(float64)
	return time.Duration(ms) * time.Millisecond
}
