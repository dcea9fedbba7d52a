"""Plays by the OpenAI Agents SDK with the server that the manual sets up.

    openai_agents.py MANUAL PROGRAM

MANUAL is the page with the snippet; PROGRAM stands in for `matchday`. In the place of a model answers one that follows what the
tools say. Prints what it saw as JSON.
"""

import asyncio
import json
import re
import sys

from agents import Agent, Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.mcp import MCPServerStdio
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

# A long match has some thirty turns, each of which takes two.
TURNS_MAX = 500


class Fake(Model):
    """Calls the tools as their replies say."""

    def __init__(self):
        self.seen = {"tools": {}, "moves": 0, "results": [], "errors": []}
        self.seat = None

    async def get_response(self, system_instructions, input, model_settings, tools, *args, **kwargs):
        self.seen["tools"] = {tool.name: tool.strict_json_schema for tool in tools}
        replies = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        return ModelResponse(output=[self.next(replies)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError

    def next(self, replies):
        if not replies:
            return call("join_league", {"name": "Ann"})
        reply = self.read(replies[-1]["output"])
        self.seat = reply.get("seat") or self.seat
        happened = reply.get("happened")
        self.seen["results"] += reply.get("results") or []
        if happened == "league_over":
            return said("Good game.")
        if happened == "your_turn":
            self.seen["moves"] += 1
            turn = reply["turn"]
            return call("make_move", {"seat": self.seat, "turn": turn["turn"], "choice": turn["options"][0], "reasoning": "It is free."})
        return call("wait_for_turn", {"seat": self.seat})

    def read(self, output):
        text = output if isinstance(output, str) else json.dumps(output)
        try:
            reply = json.loads(text)
            while isinstance(reply, list):
                reply = reply[0]
            if reply.get("type") in ("text", "input_text"):
                reply = json.loads(reply["text"])
            return reply
        except ValueError:
            self.seen["errors"].append(text)
            return {}


def call(name, arguments):
    return ResponseFunctionToolCall(
        id="fc", call_id=f"call_{id(arguments)}", type="function_call", name=name, arguments=json.dumps(arguments)
    )


def said(text):
    content = [ResponseOutputText(type="output_text", text=text, annotations=[])]
    return ResponseOutputMessage(id="msg", type="message", role="assistant", status="completed", content=content)


async def main(manual, program):
    blocks = re.findall(r"```python\n(.*?)```", open(manual, encoding="utf-8").read(), re.DOTALL)
    [snippet] = [block for block in blocks if "MCPServerStdio" in block]
    set_tracing_disabled(True)
    server = eval(snippet.replace('"command": "matchday"', f'"command": {program!r}'), {"MCPServerStdio": MCPServerStdio})
    async with server:
        model = Fake()
        agent = Agent(
            name="Ann",
            instructions="Play.",
            model=model,
            mcp_servers=[server],
            mcp_config={"convert_schemas_to_strict": True},
        )
        done = await Runner.run(agent, "Join the league and play.", max_turns=TURNS_MAX)
        print(json.dumps({**model.seen, "said": done.final_output}))


asyncio.run(main(*sys.argv[1:]))
