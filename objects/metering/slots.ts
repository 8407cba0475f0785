import { addWork, noFigures, type Figures, type Work } from './figures.ts';
import { FINEST_STEP } from './levels.ts';

/** What is measured: `name` is unique among those of a kind. */
const subjectKinds = ['account', 'user', 'policy', 'controller', 'group', 'drive'] as const;
export type SubjectKind = (typeof subjectKinds)[number];

export interface Subject {
  readonly kind: SubjectKind;
  readonly name: string;
}

/** Figures of one subject over some seconds. */
export interface Measured {
  readonly slot: number;
  readonly step: number;
  readonly figures: Readonly<Figures>;
}

type OfKind = Map<string, Figures>;

interface Slot {
  readonly start: number;
  readonly kinds: Readonly<Record<SubjectKind, OfKind>>;
}

/** When nothing can be written for long, the oldest figures are given up rather than all memory. */
const SUBJECTS_WAITING_MAX = 200_000;

/** Figures that are not on disk yet. A slot is written once it is over; what comes late makes another of the same time. */
export class SlotBuffer {
  readonly #open = new Map<number, Slot>();
  #writing: Slot[] = [];

  add({ kind, name }: Subject, at: number, what: 'put' | 'get' | 'delete', work: Work): void {
    const ofKind = this.#slotAt(at).kinds[kind];
    let figures = ofKind.get(name);
    if (!figures) ofKind.set(name, (figures = noFigures()));
    addWork(figures, what, work);
  }

  /** What is to be written now, along with what could not be written before. */
  due(now: number, all: boolean): readonly Slot[] {
    for (const [start, slot] of this.#open) {
      if (!all && (start + FINEST_STEP) * 1000 > now) continue;
      this.#open.delete(start);
      this.#writing.push(slot);
    }
    while (this.#writing.length > 1 && sizeOf(this.#writing) > SUBJECTS_WAITING_MAX) this.#writing.shift();
    return [...this.#writing];
  }

  written(slots: readonly Slot[]): void {
    this.#writing = this.#writing.filter((slot) => !slots.includes(slot));
  }

  of({ kind, name }: Subject): Measured[] {
    return [...this.#writing, ...this.#open.values()].flatMap(({ start, kinds }) => {
      const figures = kinds[kind].get(name);
      return figures ? [{ slot: start, step: FINEST_STEP, figures }] : [];
    });
  }

  drop({ kind, name }: Subject): void {
    for (const { kinds } of [...this.#writing, ...this.#open.values()]) kinds[kind].delete(name);
  }

  #slotAt(at: number): Slot {
    const start = Math.floor(at / 1000 / FINEST_STEP) * FINEST_STEP;
    let slot = this.#open.get(start);
    if (!slot) {
      const ofKind = (): OfKind => new Map<string, Figures>();
      const kinds = {
        account: ofKind(),
        user: ofKind(),
        policy: ofKind(),
        controller: ofKind(),
        group: ofKind(),
        drive: ofKind(),
      };
      this.#open.set(start, (slot = { start, kinds }));
    }
    return slot;
  }
}

export function* subjectsOf({ kinds }: Slot): Generator<readonly [Subject, Figures]> {
  for (const kind of subjectKinds) for (const [name, figures] of kinds[kind]) yield [{ kind, name }, figures];
}

function sizeOf(slots: readonly Slot[]): number {
  let size = 0;
  for (const { kinds } of slots) for (const kind of subjectKinds) size += kinds[kind].size;
  return size;
}
