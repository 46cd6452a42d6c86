"""Running a command and what it used."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import time


@dataclasses.dataclass
class Ended:
    """One finished command with all its children."""

    wall: float
    cpu: float
    rss_mb: float
    status: int
    stdout: str
    stderr: str


# What starts a command. Before it becomes another program a process has the memory of who started it, and the kernel counts that in
# the most it ever had: a small interpreter is between. What the command finds in its environment is not for the interpreter, which
# a library to be preloaded would profile. It writes to a pipe how the command ended and what it used.
START = """
import os, sys, time
report, variables = int(sys.argv[1]), int(sys.argv[2])
command = sys.argv[3 + variables:]
started = time.monotonic()
child = os.fork()
if child == 0:
    os.close(report)
    os.environ.update(variable.split("=", 1) for variable in sys.argv[3:3 + variables])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\\n".encode())
        os._exit(127)
_, status, used = os.wait4(child, 0)
ended = time.monotonic()
text = f"{os.waitstatus_to_exitcode(status)} {ended - started} {used.ru_utime + used.ru_stime} {used.ru_maxrss}"
os.write(report, text.encode())
"""


def run(command, environment=None, cwd=None, timeout=300):
    """Runs a command; raises if it fails, with what it said."""
    deadline = time.monotonic() + timeout
    words = [str(word) for word in command]
    variables = [f"{name}={value}" for name, value in (environment or {}).items()]
    report, end = os.pipe()
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", START, str(end), str(len(variables)), *variables, *words],
                          cwd=cwd, pass_fds=[end], start_new_session=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        os.close(end)
        output = [text.decode(errors="replace") for text in read_all(process, deadline)]
    with open(report, encoding="ascii") as told:
        status, wall, cpu, rss = told.read().split()
    ended = Ended(float(wall), float(cpu), int(rss) / 1024, int(status), *output)
    if ended.status != 0:
        raise RuntimeError(f"{' '.join(words)}: exit status {ended.status}\n{ended.stderr[-2000:]}")
    return ended


def falloff_json(binary, *words):
    """What falloff says in JSON."""
    return json.loads(run([binary, *words, "--format", "json"]).stdout)


def read_all(process, deadline):
    """Both streams of a process to their ends."""
    import selectors
    texts = {process.stdout: b"", process.stderr: b""}
    with selectors.DefaultSelector() as selector:
        for stream in texts:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                os.killpg(process.pid, signal.SIGKILL)
                raise TimeoutError(f"no end: {process.args}")
            for key, _ in ready:
                some = os.read(key.fd, 1 << 16)
                texts[key.fileobj] += some
                if not some:
                    selector.unregister(key.fileobj)
    return texts.values()


def allocated(path):
    """Bytes of a file or of all files in a directory, as far as they have blocks on the disk."""
    path = pathlib.Path(path)
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_blocks * 512 for file in files)
