"""What a comparison found: counts by kind, with the first examples of each."""

from __future__ import annotations

from dataclasses import dataclass, field

EXAMPLES = 5


@dataclass
class Findings:
    """What differs, by area and kind; and how much was compared."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    examples: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    compared: dict[str, int] = field(default_factory=dict)

    def add(self, area: str, kind: str, detail: str) -> None:
        key = area, kind
        self.counts[key] = self.counts.get(key, 0) + 1
        examples = self.examples.setdefault(key, [])
        if len(examples) < EXAMPLES:
            examples.append(detail if len(detail) < 600 else detail[:600] + " ...")

    def same(self, area: str, kind: str, where: str, found: object, expected: object) -> bool:
        """Compares two values."""
        if found == expected:
            return True
        self.add(area, kind, f"{where}: {found!r}, expected {expected!r}")
        return False

    def count(self, area: str, number: int = 1) -> None:
        self.compared[area] = self.compared.get(area, 0) + number

    def merge(self, other: Findings) -> None:
        for key, count in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + count
            examples = self.examples.setdefault(key, [])
            examples.extend(other.examples[key][: EXAMPLES - len(examples)])
        for area, number in other.compared.items():
            self.count(area, number)

    def lines(self) -> list[str]:
        lines = [f"{area}: {number:,} compared" for area, number in sorted(self.compared.items())]
        for (area, kind), count in sorted(self.counts.items()):
            lines.append(f"DIFFERS {area}: {kind}: {count:,}")
            lines.extend(f"    {example}" for example in self.examples[area, kind])
        return lines
