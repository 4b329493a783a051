"""A file of each language, small enough to read, with what trips splitters: comments and attributes in front, nesting, late definitions."""

from __future__ import annotations

PYTHON = '''\
#!/usr/bin/env python
"""Ferry times."""
import csv
import json  # for the timetable

LIMIT = 12


# A boat knows its berth.
@register
@dataclass(frozen=True)
class Boat(Base):
    """One boat."""

    name: str

    # Berths count from one.
    @property
    def berth(self) -> int:
        return self._berth + 1

    class Log:
        def add(self, line):
            self.lines.append(line)

        async def flush(self):
            await self.sink.write(self.lines)
            self.lines.clear()


async def depart(boat):  # blocking
    """Leave."""
    for line in boat.lines:
        line.loose()
        if line.stuck:
            line.cut()
    boat.engine.start()


if __name__ == "__main__":
    depart(Boat("Elsa"))
'''

JAVASCRIPT = """\
import fs from "fs";
import { tide } from './tide.js';

/** The quay. */
export default class Quay extends Place {
  #boats = [];

  // Moor a boat.
  async moor(boat) {
    this.#boats.push(boat);
  }

  get free() { return 12 - this.#boats.length; }
}

// Rounded up.
const metres = (feet) => {
  return Math.ceil(feet * 0.3048);
};

export const open = function (day) {
  if (day === "Sunday") {
    return false;
  }
  log("open on " + day);
  return true;
};

module.exports = { metres, open };
"""

TYPESCRIPT = """\
import { Day } from "./day";

export type Fare = { adult: number; child: number };

export interface Berth {
  readonly length: number;
  free(day: Day): boolean;
}

namespace Harbour.East {
  export enum Kind { Ferry, Yacht }

  @Service({ name: "dues" })
  export abstract class Dues<T> implements Berth {
    @Input() length: number;

    // Per night.
    @logged
    free(day: Day): boolean {
      return day !== Day.Monday;
    }

    abstract rate(): T;
  }
}
"""

TSX = """\
type Props = { name: string; stops: string[] };

export const Timetable: React.FC<Props> = ({ name, stops }) => {
  const [day, setDay] = useState("Monday");
  return (
    <section onClick={() => setDay("Friday")}>
      <h1>{name}</h1>
      {stops.map((stop) => <li key={stop}>{stop}</li>)}
    </section>
  );
};

export default function App() {
  return <Timetable name="East" stops={[]} />;
}
"""

JAVA = """\
package harbour.east;

import java.util.List;

/**
 * One boat.
 */
@Entity
@Table(name = "boats")
public class Boat extends Vessel {
    private final List<Line> lines;

    // Made fast at once.
    @Inject
    public Boat(List<Line> lines) {
        this.lines = lines;
    }

    @Override
    public int berth() { return 7; }

    enum State {
        MOORED, AT_SEA;

        boolean free() { return this == AT_SEA; }
    }
}

interface Mooring { void loose(); }
"""

GO = """\
package harbour

import (
	"fmt"
	"os"
)

// Boat is moored or at sea.
type Boat struct {
	Name  string
	Berth int
}

// Depart lets go of all lines.
func (b *Boat) Depart(lines []Line) error {
	for _, line := range lines {
		if err := line.Loose(); err != nil {
			return err
		}
	}
	fmt.Println(b.Name)
	return nil
}

const (
	Ferry = iota
	Yacht
)
"""

RUST = """\
//! Harbour dues.
use std::fmt;

/// One boat.
#[derive(Debug, Clone)]
pub struct Boat<T> {
    name: String,
    cargo: T,
}

impl<T: Clone> fmt::Display for Boat<T> {
    /// The name alone.
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.name)
    }

    const LIMIT: usize = 12;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_its_name() {
        assert_eq!(boat().to_string(), "Elsa");
    }
}
"""

C = """\
#ifndef QUAY_H
#define QUAY_H

#include <stdio.h>
#include "tide.h"

/* One berth. */
struct berth {
  int length; /* in metres */
  int free;
};

// Rounded up.
static inline int
metres(int feet)
{
  return (feet * 3 + 9) / 10;
}

#ifdef TIDAL
int depth(int hour) {
  int low = tide(hour);
  return low + 3;
}
#else
int depth(int hour) { return 5; }
#endif

#endif /* QUAY_H */
"""

CPP = """\
#include <vector>
using namespace std;

namespace harbour::east {

/// A place for boats.
template <typename T>
class Quay final : public Place {
 public:
  explicit Quay(int n) : size_(n) {}

  // Boats that fit.
  int fits(const T& boat) const {
    return size_ / boat.length();
  }

 private:
  int size_;
};

template <typename T>
void Quay<T>::moor(T boat) {
  auto loose = [&](int line) { boat.loose(line); };
  loose(1);
}

}  // namespace harbour::east
"""

SAMPLES = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "tsx": TSX,
    "java": JAVA,
    "go": GO,
    "rust": RUST,
    "c": C,
    "cpp": CPP,
}
