import assert from 'node:assert/strict';

/** Comparison of numbers that wrap around (RFC 1982): positive when `one` comes after `other`. */
export function distance(one: number, other: number): number {
  return (one - other) | 0;
}

/**
 * Which commands a session takes: CmdSN of the next one, and up to which CmdSN the initiator may send (RFC 7143, 4.2.2.1).
 *
 *            received │  may be sent: queueDepth minus those under way  │ not yet
 *     … 41  42  43  44│45  46  47  48 … 168                             │169 …
 *                      ▲ expected (ExpCmdSN)          maximum (MaxCmdSN) ▲
 *
 * Both numbers go out with every PDU. `expected` moves when a command is received in order, `maximum` when one has ended; so
 * the initiator never has more than `queueDepth` commands with us, whatever it sends. Numbers wrap after 2³²-1. Immediate
 * commands have no number of their own and are bounded apart (`immediateCommandsMax`).
 *
 * Within a write the same idea is applied to data: what may come unasked is bounded by FirstBurstLength, all else is asked
 * for by R2T, at most `outstandingR2tMax` at once, and only when the session's `writeBytesMax` has room (`write-gather.ts`).
 *
 * Example: a connection breaks in the middle of a write.
 *
 * 1. CmdSN 45 is WRITE of 1 MiB. It is in order: expected becomes 46. The target asks for the data by R2T.
 * 2. 600 KiB are here when the connection breaks. The session ends: the task is aborted, its buffer is released, nothing was
 *    written to the volume, because a write is handed on only when all of its data are here.
 * 3. Had all data been here, the volume may have the write or not; the initiator got no answer, so it must not assume either.
 * 4. It logs in again and gets a new session with a window of its own, whose first number it chooses at the login, and sends
 *    the write again. Nothing of the old session is left: `Session.close` resolves when no device works for it any more.
 *
 * Invariants: commands are carried out in the order of their numbers and each number once; `maximum - expected` is below the
 * depth; the place of a command in the window is free with its answer, not before.
 */
export class CommandWindow {
  #expected: number;
  #maximum: number;
  readonly #depth: number;

  constructor(first: number, depth: number) {
    this.#depth = depth;
    this.#expected = first >>> 0;
    this.#maximum = (first + depth - 1) >>> 0;
  }

  get expected(): number {
    return this.#expected;
  }

  get maximum(): number {
    return this.#maximum;
  }

  /** `early` commands wait for those before them; what is `outside` the window is ignored. */
  place(commandNumber: number): 'next' | 'early' | 'outside' {
    if (commandNumber === this.#expected) {
      return distance(commandNumber, this.#maximum) > 0 ? 'outside' : 'next';
    }
    const after = distance(commandNumber, this.#expected) > 0;
    return after && distance(commandNumber, this.#maximum) <= 0 ? 'early' : 'outside';
  }

  received(): void {
    assert.ok(distance(this.#expected, this.#maximum) <= 0, 'a command is received within the window');
    this.#expected = (this.#expected + 1) >>> 0;
  }

  /** A command has ended: there is room for one more. */
  ended(): void {
    const next = (this.#maximum + 1) >>> 0;
    assert.ok(distance(next, this.#expected) < this.#depth, 'a command ends once, and after it was received');
    this.#maximum = next;
  }
}
