"""Running a command and what it used."""

import dataclasses
import json
import os
import pathlib
import subprocess
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


def run(command, environment=None, cwd=None, timeout=300):
    """Runs a command; raises if it fails, with what it said."""
    started = time.monotonic()
    with subprocess.Popen([str(word) for word in command], env={**os.environ, **(environment or {})}, cwd=cwd,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # wait4 alone tells what one child used, so the pipes are read by hand.
        output = read_all(process, started + timeout)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    ended = Ended(time.monotonic() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode,
                  *(text.decode(errors="replace") for text in output))
    if ended.status != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {ended.status}\n{ended.stderr[-2000:]}")
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
                process.kill()
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
