"""What every resumable run does: stop in time or when told to, save now and then, log."""

import json
import os
import signal
import time

import torch


class Session:
    """The time that a call may take. SIGTERM and SIGINT end it early, at a point where the run can save."""

    def __init__(self, directory, minutes, save_every):
        self.directory = directory
        self.began = self.saved = time.monotonic()
        self.minutes, self.save_every = minutes, save_every
        self.told = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def stop(self, *_):
        self.told = True

    def elapsed(self):
        """Minutes."""
        return (time.monotonic() - self.began) / 60

    def over(self):
        return self.told or self.elapsed() >= self.minutes

    def save_due(self):
        return (time.monotonic() - self.saved) / 60 >= self.save_every

    def save(self, state):
        """The run's state; the file is there whole or as it was."""
        torch.save(state, self.directory / "state.tmp")
        os.replace(self.directory / "state.tmp", self.directory / "state.pt")
        self.saved = time.monotonic()

    def restore(self):
        path = self.directory / "state.pt"
        return torch.load(path, map_location="cpu", weights_only=True) if path.exists() else None

    def log(self, row):
        with open(self.directory / "log.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


def device():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
