"""Drives wf from Python over stdin and stdout, with the standard library alone.

    python3 11-drive-from-python.py NAME [ARGS]

Runs the saved workflow NAME and prints what it gives. WF names the program, `wf` without it. Ends with 0 when the workflow
completed.
"""

#region drive
import json
import os
import shlex
import subprocess
import sys

PROGRAM = shlex.split(os.environ.get("WF", "wf"))
FLAGS = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]


def run_workflow(name, args=""):
    """Runs a saved workflow; gives its status and the text of the turn that told of its end."""
    host = subprocess.Popen(
        PROGRAM + FLAGS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )

    def send(message):
        host.stdin.write(json.dumps(message) + "\n")
        host.stdin.flush()

    send({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}})
    send({"type": "user", "message": {"role": "user", "content": f"/{name} {args}".strip()}})
    status, text = "not started", ""
    try:
        for line in host.stdout:
            message = json.loads(line)
            kind = message.get("subtype") or message["type"]
            if kind == "task_progress" and "summary" in message:
                print(f"{name}: {message['summary']}", file=sys.stderr)
            elif kind == "task_notification":
                status = message["status"]
            elif message["type"] == "result":
                text = message.get("result", "")
                # The first result only says that it runs; the one with an origin tells of its end.
                if message.get("origin") or message["is_error"]:
                    host.stdin.close()
    except KeyboardInterrupt:
        send({"type": "control_request", "request_id": "2", "request": {"subtype": "interrupt"}})
        raise
    host.wait()
    return status, text


#endregion

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python3 11-drive-from-python.py NAME [ARGS]")
    status, text = run_workflow(sys.argv[1], " ".join(sys.argv[2:]))
    print(text)
    sys.exit(0 if status == "completed" else 1)
