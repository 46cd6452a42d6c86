"""Figures against goals."""

from . import tables


class Report:
    """The table of goals."""

    def __init__(self):
        self.rows = []

    def goal(self, what, figure, limit, met):
        self.rows.append([what, figure, limit, "met" if met else "**missed**"])

    def fact(self, what, figure):
        self.rows.append([what, figure, "–", "–"])

    def show(self):
        print("## Goals\n")
        print(tables.table(["what", "falloff", "goal", ""], self.rows))
        return all(row[3] != "**missed**" for row in self.rows)
